#pragma once
// The folder of a run as data: what it was asked to do, and the digests that it left.

#include <filesystem>
#include <string>

#include "conformance/corrections/plan_json.h"
#include "conformance/training/config.h"
#include "conformance/training/trace_file.h"
#include "formats/result.h"

namespace fp4proof::training {

struct RecordedRun {
  std::filesystem::path folder;
  Config config;
  SharedPlan plan;
  std::string backend;               ///< as load_backend() takes it
  std::filesystem::path warm_start;  ///< the file it began from; empty: its own
  TraceFile trace;
};

/// Reads run.json and trace.json. `backend`: in place of the one that run.json names, where it is not empty.
/// Errors: `io` for files that cannot be read, `corrupt` for damaged ones, `usage` for a run of another version: one
/// whose preset has changed, or that does not say which backend it had.
Result<RecordedRun> read_run(const std::filesystem::path& folder, const std::string& backend = {});

/// What keeps two runs from being the same but for their length; empty: nothing. A plan with noise depends on the
/// number of steps.
std::string difference_of(const RecordedRun& a, const RecordedRun& b);

}  // namespace fp4proof::training
