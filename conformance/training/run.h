#pragma once
// A whole run in a folder: warm start, reinforcement, records, checkpoints. A killed run goes on where its last
// checkpoint stands, with the same bits.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>

#include "conformance/training/records.h"
#include "formats/spec_plans.h"

namespace fp4proof::training {

struct RunOptions {
  Config config;
  PrecisionPlan plan;
  std::filesystem::path folder;
  /// A finished warm start to begin from; empty: `warm_start.safetensors` in the folder, made where it is missing.
  std::filesystem::path warm_start;
  bool resume = false;  ///< go on in the folder; without it a folder with a run is refused
  std::int64_t checkpoint_every = 10;
  /// Keeps the checkpoint of every step that this divides; 0: the last one alone.
  std::int64_t keep_every = 0;
  /// Measures (measures.h) on step 1 and every step that this divides; 0: never.
  std::int64_t measure_every = 0;
};

/// Where a run stands; returning false ends it as a kill would.
struct RunStep {
  std::string_view phase;
  std::int64_t step = 0;
  std::int64_t steps = 0;
  double reward = 0;
};
using RunWatch = std::function<bool(const RunStep&)>;

/// Refuses what cannot be run: an unsound plan, a noise schedule that does not fit, a folder that holds a run already,
/// a checkpoint or warm start of another run.
Result<void> check_run(const RunOptions& options);

/// Removes the records of a run that has left no checkpoint, before another begins in its folder.
Result<void> remove_stale_records(const std::filesystem::path& folder);

/// Runs to the end, or to where `watch` stops it (then the records are those up to there). Writes steps.csv,
/// trace.json, summary.json, warm_start.safetensors and checkpoint.safetensors, and the files of Measures.
Result<Records> run(Operators& operators, const RunOptions& options, const RunWatch& watch = {});

}  // namespace fp4proof::training
