#pragma once
// Which runs belong together: those that a chart draws as one line.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/training_report/training_run.h"

namespace fp4proof::training_report {

/// Runs of equal preset, plan and configuration but for the seed. Equal runs on several backends count once; where
/// their digests differ, each backend is a group of its own.
struct RunGroup {
  std::string preset;
  std::string name;                      ///< the plan, and what else tells it from others of its preset
  std::vector<const TrainingRun*> runs;  ///< by seed; not empty
  bool is_bf16() const { return runs.front()->is_bf16(); }
};

/// What makes the bits of a run: texts of what stands in run.json. Equal texts mean equal runs, but for the seed.
std::string identity_of(const TrainingRun& run);

/// By preset; bf16 first, then by name. The runs must outlive the groups.
std::vector<RunGroup> group_runs(std::span<const TrainingRun> runs);

/// The ended bf16 run of the same preset, configuration and seed, of the same backend where there is one; or nullptr.
const TrainingRun* bf16_of(const TrainingRun& run, std::span<const TrainingRun> runs);

/// Mean reward and mean k3 of the last 20 steps; nothing before the first step, and for a mean that is not finite.
std::optional<double> final_reward(const TrainingRun& run);
std::optional<double> final_k3(const TrainingRun& run);

/// The mean of a number over the last 20 steps of a run that has steps.
double mean_of_last(const std::vector<StepLine>& steps, double StepLine::*number);

}  // namespace fp4proof::training_report
