#pragma once
// The shards of a sweep, put together.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "conformance/sweep/outcome.h"
#include "formats/result.h"

namespace fp4proof::sweep {

struct MergedSweep {
  Sweep sweep;
  std::vector<Outcome> outcomes;               ///< of all its runs
  std::vector<std::filesystem::path> folders;  ///< the folder of each finished one
  std::vector<std::string> differing;          ///< runs of which two shards have different results
};

/// Takes each finished run from the first folder that has it. `usage` error where two folders hold shards of different
/// sweeps; other errors as read_sweep() and read_run().
Result<MergedSweep> merge(std::span<const std::filesystem::path> shards);

/// Writes sweep.json, sweep.csv and the records of each run, not its weights, as a new folder that appears complete or
/// not at all. `usage` error for one that holds something.
Result<void> write_merged(const std::filesystem::path& folder, const MergedSweep& merged);

}  // namespace fp4proof::sweep
