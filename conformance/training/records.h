#pragma once
// What a run has left so far: steps.csv, trace.json and summary.json. docs/training.md describes the files.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "conformance/training/trace_file.h"
#include "conformance/training/trainer.h"

namespace fp4proof::training {

/// Greedy accuracy behind a step.
struct Evaluation {
  double rollout = 0;   ///< in the precision of the rollout
  double training = 0;  ///< of the forward pass of training
  double bf16 = 0;
};

class Records {
 public:
  void add(const StepRecord& record, const std::optional<Evaluation>& evaluation, double seconds);
  void add(const TraceStep& step);
  void warm_start_done(std::uint64_t chain) { trace_.warm_start = chain; }

  /// The chain behind the last step.
  std::uint64_t chain() const { return trace_.chain(); }

  std::string csv() const;
  const TraceFile& trace() const { return trace_; }
  /// The first step with a number that is not finite.
  std::optional<std::int64_t> diverged_at() const;
  /// Final reward (mean of the last 20 steps), mean reward, steps to a reward of 0.8, last evaluation, digest,
  /// diverged_at.
  nlohmann::json summary() const;

  /// Writes steps.csv and trace.json.
  Result<void> save(const std::filesystem::path& folder) const;
  /// Reads them back up to a step.
  static Result<Records> load(const std::filesystem::path& folder, std::int64_t last_step);

 private:
  struct Row {
    std::string line;  ///< of the CSV file
    double reward = 0;
    std::optional<Evaluation> evaluation;
  };
  TraceFile trace_;
  std::vector<Row> rows_;
};

}  // namespace fp4proof::training
