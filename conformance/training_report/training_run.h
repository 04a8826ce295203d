#pragma once
// A run of `fp4proof train` as its folder tells it. docs/training.md describes the files.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/result.h"

namespace fp4proof::training_report {

/// Greedy accuracy: in the two precisions of the plan, and in bfloat16.
struct Greedy {
  double rollout = 0;
  double training = 0;
  double bf16 = 0;
};

/// A line of steps.csv, as far as pages show it. Entropy, k3, ratio and norm of a run that diverged need not be finite.
struct StepLine {
  std::int64_t step = 0;
  double reward = 0;
  double entropy = 0;
  double k3 = 0;
  double ratio_p99 = 0;
  double gradient_norm = 0;
  std::optional<Greedy> greedy;
  bool is_finite = true;  ///< every number of the line, those that pages do not show too
};

/// A line of quant.csv: one coded tensor.
struct QuantLine {
  std::int64_t step = 0;
  std::string product;  ///< rollout, forward, input-gradient, weight-gradient
  std::string operand;  ///< activation, weight, gradient
  double elements = 0;  ///< without those left out
  double deadzone_fraction = 0;
  // Over |x|^2; the parts need not add up to the error.
  double relative_error = 0;
  double scale_bias = 0;
  double deadzone = 0;
  double grid = 0;
};

/// A line of gradients.csv, over all parameters; against the bfloat16 gradient of the same batch. Its numbers need not
/// be finite.
struct GradientLine {
  std::int64_t step = 0;
  double cosine = 0;
  double norm_ratio = 0;
  double error = 0;  ///< |g - g0| / |g0|
  std::optional<double> bias;
  std::optional<double> variance;
};

struct OperatorLine {
  std::string name;
  double seconds = 0;
};

struct Summary {
  double final_reward = 0;
  double mean_reward = 0;
  std::optional<std::uint64_t> steps_to_goal;
  std::string digest;
};

struct TrainingRun {
  std::string folder;  ///< as it was named, valid UTF-8
  std::filesystem::path path;
  std::string preset;
  std::string plan_name;
  std::string backend;
  std::string plan;                           ///< JSON, without name and words
  std::map<std::string, std::string> config;  ///< JSON of each member by its pointer, without the seed
  std::uint64_t seed = 0;
  std::uint64_t planned_steps = 0;
  std::vector<StepLine> steps;  ///< empty: it stopped before the first checkpoint
  // Absent: the file is. quant is empty where a plan codes nothing.
  std::optional<std::vector<QuantLine>> quant;
  std::optional<std::vector<GradientLine>> gradients;
  std::optional<std::vector<OperatorLine>> operators;
  std::optional<Summary> summary;  ///< absent: the run has not ended

  bool is_bf16() const { return plan_name == "bf16"; }
  /// The first step with a number that is not finite.
  std::optional<std::int64_t> diverged_at() const;
};

/// The names of the files in a run's folder that are read.
std::span<const char* const> record_files();

/// Reads the folder. `corrupt` error, with file and line, for any file that is not as this version writes it.
Result<TrainingRun> read_training_run(const std::filesystem::path& folder);

/// Every run in these folders and the folders in them, in order of path, each once. Links to folders are not followed,
/// warm starts of a sweep are left out.
/// `usage` error for a folder that is missing or holds none, and for warm starts alone.
Result<std::vector<TrainingRun>> read_training_runs(const std::vector<std::string>& folders);

}  // namespace fp4proof::training_report
