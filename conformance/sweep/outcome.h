#pragma once
// Where the runs of a sweep stand, as sweep.json, sweep.csv, and a summary of every plan.

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "conformance/sweep/sweep.h"
#include "formats/spec.h"

namespace fp4proof::sweep {

enum class RunState : std::uint8_t { pending, done, failed };

struct Outcome {
  SweepRun run;
  RunState state = RunState::pending;
  nlohmann::json result;  ///< of read_run()
  std::string failure;    ///< how it ended, where it failed
};

/// For each plan, in the order of the sweep: `plan`, `runs`, `done`, `diverged` (how many of those); the mean over its
/// finished runs of every measure but steps_to_0.8, null where one of them has none; `spread`, the sample deviation of
/// final_reward, null for fewer than two; `gap`, by how many points of final_reward bf16 is better, over the seeds that
/// both have finished.
nlohmann::json summary_of(const Sweep& sweep, std::span<const Outcome> outcomes);

/// sweep.json: the sweep, its runs, the summary. It holds no time and no place, so a merged one is equal to that of
/// the whole. `shard` is "I/N".
nlohmann::json sweep_document(const Sweep& sweep, const std::string& shard, std::span<const Outcome> outcomes);

/// sweep.csv: one line a run.
std::string sweep_csv(std::span<const Outcome> outcomes);

}  // namespace fp4proof::sweep

namespace fp4proof {
FP4PROOF_ENUM_NAMES(sweep::RunState, {"pending", "done", "failed"});
}  // namespace fp4proof
