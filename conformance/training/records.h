#pragma once
// What a run has left so far: steps.csv, trace.json and summary.json. docs/training.md describes the files.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

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
  void warm_start_done(std::uint64_t chain) { warm_start_chain_ = chain; }

  /// The chain behind the last step.
  std::uint64_t chain() const { return steps_.empty() ? warm_start_chain_ : steps_.back().chain; }

  std::string csv() const;
  nlohmann::json trace() const;
  /// Final reward (mean of the last 20 steps), mean reward, steps to a reward of 0.8, last evaluation, digest.
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
  std::uint64_t warm_start_chain_ = 0;
  std::vector<Row> rows_;
  std::vector<TraceStep> steps_;
};

}  // namespace fp4proof::training
