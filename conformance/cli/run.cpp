// fp4proof run: a vendor's kernel, loaded as a plug-in, against the vectors.

#include <fmt/format.h>
#include <omp.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "conformance/cli/progress.h"
#include "conformance/cli/run_verdict.h"
#include "conformance/cli/same_file.h"
#include "conformance/cli/verbs.h"
#include "conformance/cli/version.h"
#include "conformance/profiles/profile_lookup.h"
#include "conformance/runners/plugin_subject.h"
#include "conformance/runners/run_backend.h"
#include "conformance/vectors/atomic_file.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/sha256.h"
#include "reference/portable/accumulator.h"

namespace fp4proof::cli {

namespace {

struct Options {
  std::string library;
  std::string set = "quick";
  std::vector<std::string> profiles;
  std::string operation;
  std::string accumulator;
  std::string requirement;
  std::string json;
  double seconds = 60;
  std::size_t errors = 10;

  bool json_is_output() const { return json == "-"; }

  Requirement required() const {
    if (requirement == "full") return Requirement::full;
    const bool by_default = requirement.empty() && !profiles.empty();
    return requirement == "standard" || by_default ? Requirement::standard : Requirement::offered;
  }
};

Result<runners::CaseSource> cases_of(const std::string& set) {
  if (const suite::SetPlan* plan = suite::find_set(set)) return runners::CaseSource::named(*plan);
  std::error_code ignored;
  if (std::filesystem::is_directory(set, ignored)) return runners::CaseSource::folder(set);
  return Error{ErrorKind::usage,
               fmt::format("--set {} is neither a set (smoke, quick, full) nor a folder", quote(set))};
}

Result<runners::RunRequest> request_of(const Options& options) {
  runners::RunRequest request;
  request.operation = suite::operation_named(options.operation);
  request.accumulator = options.accumulator;
  request.most_mismatches = options.errors;
  for (const std::string& name : options.profiles) {
    const Result<SharedProfile> profile = find_profile_or_file(name);
    if (!profile) return profile.error();
    request.profiles.push_back(*profile);
  }
  return request;
}

std::chrono::milliseconds time_limit(const Options& options) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(options.seconds * 1000.0));
}

struct Library {
  std::string path;
  std::string sha256;
};

nlohmann::json document_of(const runners::RunReport& report, const runners::CaseSource& cases, const Library& library,
                           ExitCode code) {
  nlohmann::json document = to_json(report);
  document["format"] = "fp4proof-run/1";
  document["tool_version"] = tool_version;
  document["exit_code"] = static_cast<int>(code);
  document["cases"] = cases.label();
  document["backend"]["path"] = library.path;
  document["backend"]["sha256"] = library.sha256;
  return document;
}

Result<ExitCode> run(const Options& options, Session& session) {
  if (const Result<void> apart = refuse_same_file(options.library, options.json); !apart) return apart.error();
  const Result<FileDigest> digest = sha256_of_file(options.library);
  if (!digest) return digest.error();
  const Result<runners::CaseSource> cases = cases_of(options.set);
  if (!cases) return cases.error();
  Result<runners::RunRequest> request = request_of(options);
  if (!request) return request.error();
  request->cases = &*cases;
  runners::PluginSubject subject(options.library, time_limit(options));
  request->subject = &subject;
  std::optional<Progress> progress;
  request->progress = [&](std::size_t total) {
    if (!progress) progress.emplace("verifying", total);
    progress->advance(1);
  };
  // Cases are small, and threads that wait for the next one would take the processors from the plug-in.
  omp_set_num_threads(1);
  const Result<runners::RunReport> report = runners::run_backend(*request);
  progress.reset();
  if (!report) return report.error();
  const Verdict verdict = verdict_of(*report, options.required(), request->operation);
  for (const std::string& reason : verdict.reasons) session.complain({ErrorKind::internal, reason});
  const nlohmann::json document = document_of(*report, *cases, {options.library, to_hex(digest->digest)}, verdict.code);
  if (options.json_is_output()) {
    session.print_json(document);
    return verdict.code;
  }
  if (!options.json.empty()) {
    const std::string text = document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    if (const Result<void> written = write_file(options.json, bytes_of(text)); !written) return written.error();
  }
  session.print(to_text(*report));
  session.print(verify::to_text(report->verify_report().total()) + "\n");
  return verdict.code;
}

std::vector<std::string> accumulator_names() {
  std::vector<std::string> names;
  for (const portable::Accumulator accumulator : portable::accumulators) names.emplace_back(name_of(accumulator));
  return names;
}

Action add(CLI::App& command, Session& session) {
  auto options = std::make_shared<Options>();
  command.description(
      "Verify a kernel, a shared library with the interface of conformance/backend.h, to the bit.\n"
      "It runs in a process of its own, twice on each group of cases.");
  command.add_option("--backend", options->library, "The shared library")->required()->option_text("LIB");
  command.add_option("--set", options->set, "smoke, quick, full, or a folder with a set")
      ->option_text("S|DIR")
      ->capture_default_str();
  command.add_option("--profile", options->profiles, "Only this profile, which is then required; may be repeated")
      ->option_text("P")
      ->allow_extra_args(false);
  command.add_option("--operation,--op", options->operation, "Only this operation")
      ->check(CLI::IsMember(std::vector<std::string>(suite::operation_names.begin(), suite::operation_names.end())));
  command.add_option("--accumulate", options->accumulator, "Only products with this accumulator")
      ->check(CLI::IsMember(accumulator_names()));
  command
      .add_option("--require", options->requirement,
                  "What must be offered: offered (nothing), standard (quantize and dequantize, or --operation; the\n"
                  "default with --profile), full (everything)")
      ->check(CLI::IsMember({"offered", "standard", "full"}));
  command.add_option("--timeout", options->seconds, "Seconds for each call")
      ->check(CLI::Range(0.001, 1e6))
      ->capture_default_str();
  command.add_option("--errors", options->errors, "How many mismatches to print")->capture_default_str();
  command.add_option("--json", options->json, "Write the report as JSON; - prints it in place of the text")
      ->option_text("FILE|-");
  command.footer(
      "Example:\n"
      "  fp4proof run --backend ./libkernel.so --profile mxfp4/ocp\n"
      "  fp4proof run --backend ./libkernel.so --set smoke --operation quantize --json report.json\n"
      "Exit codes: 0 conformant, 1 mismatch, 4 the plug-in failed, 5 incomplete, 6 a required operation is not "
      "offered,\n"
      "7 two runs differ. docs/plug-ins.md shows how to write a plug-in.");
  return [options, &session] { return run(*options, session); };
}

}  // namespace

const Verb run_verb{"run", add};

}  // namespace fp4proof::cli
