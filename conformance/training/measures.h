#pragma once
// What a run measures beside its course, on some of its steps: quant.csv, gradients.csv and operators.csv. Measuring
// changes no bit of the run.

#include <filesystem>
#include <map>
#include <string>

#include "conformance/training/coding_errors.h"
#include "conformance/training/gradient_errors.h"
#include "conformance/training/operator_times.h"
#include "conformance/training/trainer.h"

namespace fp4proof::training {

class Measures : public StepWatch {
 public:
  /// Measures step 1 and every `every`-th one. Everything must outlive this.
  Measures(Operators& operators, const Config& config, std::int64_t every, const PlanCodings& plan,
           const PlanCodings& bf16, Parameters& parameters);

  bool is_due(std::int64_t step) const { return step == 1 || step % every_ == 0; }

  void begin(std::int64_t step) override;
  void before_update(std::span<const std::int32_t> tokens, std::span<const float> weights) override;
  Result<void> end() override;

  /// Writes the files.
  Result<void> save(const std::filesystem::path& folder) const;
  /// Reads them back up to a step; files that are not there are empty. Times are those of every step so far.
  Result<void> load(const std::filesystem::path& folder, std::int64_t last_step);

 private:
  /// Times a call first, then looks at what it coded.
  class Watch : public CallObserver {
   public:
    Watch(OperatorTimes& times, CodingErrors& codings) : times_(&times), codings_(&codings) {}
    void before(const ObservedCall& call) override { times_->before(call); }
    void after(const ObservedCall& call) override {
      times_->after(call);
      codings_->after(call);
    }

   private:
    OperatorTimes* times_;
    CodingErrors* codings_;
  };

  std::string operator_lines() const;

  Operators* operators_;
  Config config_;
  std::int64_t every_;
  std::int64_t step_ = 0;
  OperatorTimes times_;
  CodingErrors codings_;
  GradientErrors gradients_;
  Watch watch_;
  std::string quant_lines_, gradient_lines_;
};

}  // namespace fp4proof::training
