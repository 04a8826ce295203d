#pragma once
// The folder of a sweep: sweep.json, sweep.csv, and a folder for each run.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "conformance/sweep/outcome.h"
#include "formats/result.h"

namespace fp4proof::sweep {

/// Reads sweep.json. `io` error for a folder without one, `corrupt` for one that makes no sense.
Result<Sweep> read_sweep(const std::filesystem::path& folder);

/// A `usage` error where the folder holds a sweep with other settings. Other seeds and plans may join.
Result<void> check_folder(const std::filesystem::path& folder, const Sweep& sweep);

/// Where these runs stand: finished ones are done, all others pending. Errors as read_run().
Result<std::vector<Outcome>> read_outcomes(const std::filesystem::path& folder, const std::vector<SweepRun>& runs);

/// Writes sweep.json and sweep.csv.
Result<void> write_sweep(const std::filesystem::path& folder, const Sweep& sweep, const std::string& shard,
                         std::span<const Outcome> outcomes);

}  // namespace fp4proof::sweep
