// fp4proof verify: the answers of a kernel, or of the reference itself, against a set of vectors.

#include <fmt/format.h>
#include <omp.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/cli/check_options.h"
#include "conformance/cli/check_run.h"
#include "conformance/cli/check_run_paths.h"
#include "conformance/cli/verbs.h"
#include "conformance/runners/file_subject.h"
#include "conformance/runners/reference_subject.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/sha256.h"
#include "reference/portable/accumulator.h"

namespace fp4proof::cli {

namespace {

/// The accumulator whose products are wanted unless another is named: a kernel has one.
constexpr const char* normative_accumulator = "seq512";

/// Stands for every accumulator.
constexpr const char* all_accumulators = "all";

struct Options {
  CheckOptions check;
  std::string folder;
  std::string actual;
};

/// A set without anything that is asked for is a wrong request.
Result<void> refuse_nothing(const Options& options, const runners::CaseSource& cases,
                            const verdict::CheckRequest& request) {
  const auto has_cases = [&](const SharedProfile& profile) {
    for (const suite::Operation operation : suite::operations)
      if ((!request.operation || *request.operation == operation) && cases.asks(operation, *profile)) return true;
    return false;
  };
  const std::string of_operation =
      request.operation ? fmt::format(" of {}", suite::name_of(*request.operation)) : std::string();
  for (const SharedProfile& profile : request.profiles) {
    if (has_cases(profile)) continue;
    return Error{ErrorKind::usage, fmt::format("{}: the set has no cases{} for profile {}", quote(options.folder),
                                               of_operation, profile->name)};
  }
  if (request.profiles.empty() && request.operation && cases.kept_profiles(*request.operation).empty()) {
    return Error{ErrorKind::usage, fmt::format("{}: the set has no cases{}", quote(options.folder), of_operation)};
  }
  return {};
}

Result<ExitCode> check_reference(const Options& options, verdict::CheckRequest request, Session& session) {
  if (request.cases->vector_set()->inputs_only) {
    return Error{ErrorKind::usage,
                 fmt::format("{}: the set has no expected outputs to check; name the answers with --actual",
                             quote(options.folder))};
  }
  runners::ReferenceSubject subject;
  request.subject = &subject;
  request.facts = {"reference", {}, {}};
  return run_check(options.check, std::move(request), session);
}

Result<ExitCode> check_answers(const Options& options, verdict::CheckRequest request, Session& session) {
  Result<SafetensorsFile> answers = SafetensorsFile::open(options.actual);
  if (!answers) return answers.error();
  const Result<FileDigest> digest = sha256_of_file(options.actual);
  if (!digest) return digest.error();
  runners::FileSubject subject(std::move(*answers), *request.cases->vector_set());
  request.subject = &subject;
  request.facts = {"files", options.actual, to_hex(digest->digest)};
  if (options.check.accumulator.empty()) request.accumulator = normative_accumulator;
  return run_check(options.check, std::move(request), session);
}

Result<ExitCode> verify(const Options& options, Session& session) {
  CheckInputs inputs{{}, options.folder};
  if (!options.actual.empty()) inputs.files.push_back(options.actual);
  if (const Result<void> apart = check_report_paths(options.check, std::move(inputs)); !apart) return apart.error();
  if (options.check.threads > 0) omp_set_num_threads(options.check.threads);
  const std::string& errata = options.check.errata;
  const Result<runners::CaseSource> cases = runners::CaseSource::folder(
      options.folder, errata.empty() ? std::nullopt : std::optional<std::filesystem::path>(errata));
  if (!cases) return cases.error();
  std::optional<verdict::Waivers> waivers;
  Result<verdict::CheckRequest> request = check_request_of(options.check, "verify", session, waivers);
  if (!request) return request.error();
  request->cases = &*cases;
  request->kept_profiles_only = true;
  if (request->accumulator == all_accumulators) request->accumulator.clear();
  if (const Result<void> some = refuse_nothing(options, *cases, *request); !some) return some.error();
  return options.actual.empty() ? check_reference(options, std::move(*request), session)
                                : check_answers(options, std::move(*request), session);
}

std::vector<std::string> accumulator_names() {
  std::vector<std::string> names = {all_accumulators};
  for (const portable::Accumulator accumulator : portable::accumulators) names.emplace_back(name_of(accumulator));
  return names;
}

Action add(CLI::App& command, Session& session) {
  auto options = std::make_shared<Options>();
  command.description("Compare answers with a set of vectors, to the bit, and name what went wrong first.");
  command.add_option("DIR", options->folder, "A set, for example vectors/quick")->required();
  command.add_option("--actual", options->actual, "The answers; without it the reference checks the set itself")
      ->option_text("FILE");
  add_check_options(command, options->check, accumulator_names());
  command.footer(
      "With --actual, products are wanted under the accumulator seq512 unless --accumulate names another, or all.\n"
      "Example:\n"
      "  fp4proof verify vectors/quick                                    the committed vectors against the reference\n"
      "  fp4proof verify vectors/quick --actual actual.safetensors --profile hif4/gcc --op quantize\n"
      "Exit codes: 0 equal and complete, 1 mismatch, 3 corrupt file, 5 answers missing.");
  return [options, &session] { return verify(*options, session); };
}

}  // namespace

const Verb verify_verb{"verify", add};

}  // namespace fp4proof::cli
