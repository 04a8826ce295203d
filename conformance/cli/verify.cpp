// fp4proof verify: the answers of a kernel, or of the reference itself, against a set of vectors.

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>

#include "conformance/cli/progress.h"
#include "conformance/cli/same_file.h"
#include "conformance/cli/verbs.h"
#include "conformance/cli/version.h"
#include "conformance/profiles/profile_lookup.h"
#include "conformance/vectors/atomic_file.h"
#include "conformance/vectors/os_error.h"
#include "conformance/verify/verify_set.h"
#include "reference/portable/accumulator.h"

namespace fp4proof::cli {

namespace {

struct Options {
  std::string folder;
  std::string actual;
  std::string profile;
  std::string operation;
  std::string accumulator;
  std::string errata;
  std::string json;
  std::size_t errors = 10;
  bool ignore_codes_under_nan = false;

  bool json_is_output() const { return json == "-"; }
};

Result<verify::VerifyRequest> request_of(const Options& options) {
  verify::VerifyRequest request;
  request.folder = options.folder;
  if (!options.actual.empty()) request.actual = options.actual;
  if (!options.errata.empty()) request.errata = options.errata;
  request.operation = suite::operation_named(options.operation);
  request.accumulator = options.accumulator;
  request.most_mismatches = options.errors;
  request.rules.ignore_codes_under_nan = options.ignore_codes_under_nan;
  if (!options.profile.empty()) {
    const Result<SharedProfile> profile = find_profile_or_file(options.profile);
    if (!profile) return profile.error();
    request.profile = *profile;
  }
  return request;
}

nlohmann::json document_of(const verify::VerifyReport& report, ExitCode code) {
  nlohmann::json document = verify::to_json(report);
  document["format"] = "fp4proof-verify/1";
  document["tool_version"] = tool_version;
  document["exit_code"] = static_cast<int>(code);
  return document;
}

/// A report must replace neither the answers nor a file of the set.
Result<void> refuse_to_overwrite(const Options& options) {
  if (options.json.empty() || options.json_is_output()) return {};
  if (const Result<void> apart = refuse_same_file(options.actual, options.json); !apart) return apart;
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::absolute(options.json, ignored).parent_path();
  if (!std::filesystem::equivalent(folder, options.folder, ignored)) return {};
  return Error{ErrorKind::usage,
               fmt::format("the report {} lies in the folder of the set; write it elsewhere", quote(options.json))};
}

ExitCode verdict(const verify::VerifyReport& report) {
  const verify::Tally total = report.total();
  ExitCode code = total.failed != 0 ? ExitCode::mismatch : ExitCode::conformant;
  const bool is_incomplete = report.has_missing() || total.passed + total.failed == 0;
  if (is_incomplete) code = worse_of(code, ExitCode::incomplete);
  return code;
}

Result<ExitCode> run(const Options& options, Session& session) {
  if (const Result<void> apart = refuse_to_overwrite(options); !apart) return apart.error();
  Result<verify::VerifyRequest> request = request_of(options);
  if (!request) return request.error();
  std::optional<Progress> progress;
  request->progress = [&](std::size_t total) {
    if (!progress) progress.emplace("verifying", total);
    progress->advance(1);
  };
  const Result<verify::VerifyReport> report = verify::verify_set(*request);
  progress.reset();
  if (!report) return report.error();
  const ExitCode code = verdict(*report);
  if (options.json_is_output()) {
    session.print_json(document_of(*report, code));
    return code;
  }
  if (!options.json.empty()) {
    const Result<void> written = write_file(options.json, bytes_of(document_of(*report, code).dump(2) + "\n"));
    if (!written) return written.error();
  }
  session.print(verify::to_text(*report));
  session.print(verify::to_text(report->total()) + "\n");
  return code;
}

std::vector<std::string> accumulator_names() {
  std::vector<std::string> names = {std::string(verify::all_accumulators)};
  for (const portable::Accumulator accumulator : portable::accumulators) names.emplace_back(name_of(accumulator));
  return names;
}

Action add(CLI::App& command, Session& session) {
  auto options = std::make_shared<Options>();
  command.description("Compare answers with a set of vectors, to the bit, and name what went wrong first.");
  command.add_option("DIR", options->folder, "A set, for example vectors/quick")->required();
  command.add_option("--actual", options->actual, "The answers; without it the reference checks the set itself")
      ->option_text("FILE");
  command.add_option("--profile", options->profile, "Only the cases of this profile")->option_text("P");
  command.add_option("--op", options->operation, "Only the cases of this operation")
      ->check(CLI::IsMember(std::vector<std::string>(suite::operation_names.begin(), suite::operation_names.end())));
  command.add_option("--accumulate", options->accumulator, "Only gemm cases of this accumulator (seq512), or all")
      ->check(CLI::IsMember(accumulator_names()));
  command.add_option("--errors", options->errors, "How many mismatches to print (default: 10)")->option_text("N");
  command.add_option("--json", options->json, "Write the report as JSON; - prints it in place of the text")
      ->option_text("FILE|-");
  command.add_option("--errata", options->errata, "Withdrawn cases; by default ERRATA.json in or beside DIR")
      ->option_text("FILE");
  command.add_flag("--ignore-codes-under-nan", options->ignore_codes_under_nan,
                   "Do not look at element codes under a NaN scale");
  session.add_threads_option(command);
  command.footer(
      "Example:\n"
      "  fp4proof verify vectors/quick                                    the committed vectors against the reference\n"
      "  fp4proof verify vectors/quick --actual actual.safetensors --profile hif4/gcc --op quantize\n"
      "Exit codes: 0 equal and complete, 1 mismatch, 3 corrupt file, 5 answers missing.");
  return [options, &session] { return run(*options, session); };
}

}  // namespace

const Verb verify_verb{"verify", add};

}  // namespace fp4proof::cli
