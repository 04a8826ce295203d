#pragma once
// What a user asks `fp4proof sweep` for.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "conformance/cli/train_options.h"
#include "conformance/sweep/sweep.h"
#include "formats/result.h"

namespace fp4proof::cli {

struct SweepOptions {
  TrainOptions train;
  std::vector<std::string> plans = {"all"};  ///< names and files; "all" alone: every named plan
  std::vector<std::string> seeds = {"1"};    ///< "7", "1-3"
  std::string out;
  std::string shard = "1/1";
  std::size_t jobs = 0;     ///< runs side by side
  std::size_t threads = 1;  ///< of each
  bool dry_run = false;
  bool json = false;
};

struct SweepRequest {
  sweep::Sweep sweep;
  std::vector<sweep::SweepRun> runs;              ///< those of the shard
  std::map<std::string, std::string> plan_words;  ///< what the user wrote, by the name of the plan
};

/// Errors of kind `usage`: unknown names, seeds or plans given twice, a plan that does not fit the preset, an empty
/// shard, too many runs.
Result<SweepRequest> request_of(const SweepOptions& options);

}  // namespace fp4proof::cli
