#pragma once
// The options that `run` and `verify` share.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "conformance/cli/session.h"
#include "conformance/cli/verb.h"
#include "conformance/verdict/check.h"

namespace fp4proof::cli {

struct CheckOptions {
  std::vector<std::string> profiles;
  std::string operation;
  std::string accumulator;
  std::string errata;
  std::string waivers;
  std::string requirement;
  std::string level;
  std::string shard = "1/1";
  std::string resume;
  std::string json;
  std::vector<std::string> reports;  ///< FORMAT=FILE
  std::size_t errors = 10;
  std::uint32_t repetitions = verdict::StatisticalPlan{}.repetitions;
  bool statistical = false;
  int threads = 0;
  bool ignore_codes_under_nan = false;
  bool strict = false;
  bool no_diagnosis = false;
  bool timing = false;

  bool json_is_output() const { return json == "-"; }
};

/// Adds them to a verb. `accumulators`: the names that --accumulate takes.
void add_check_options(CLI::App& command, CheckOptions& options, const std::vector<std::string>& accumulators);

/// Those that need a subject which can be asked again and again.
void add_statistical_options(CLI::App& command, CheckOptions& options);

/// Those of them that say where reports go.
void add_output_options(CLI::App& command, CheckOptions& options);

/// What the options ask for, but for subject, facts and cases, which the verb adds. `waivers` receives those of the
/// file, and must outlive the request.
Result<verdict::CheckRequest> check_request_of(const CheckOptions& options, std::string command, const Session& session,
                                               std::optional<verdict::Waivers>& waivers);

}  // namespace fp4proof::cli
