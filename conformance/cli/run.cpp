// fp4proof run: a vendor's kernel, loaded as a plug-in or started as a program, against the vectors.

#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "conformance/cli/check_options.h"
#include "conformance/cli/check_run.h"
#include "conformance/cli/check_run_paths.h"
#include "conformance/cli/common_options.h"
#include "conformance/cli/verbs.h"
#include "conformance/runners/plugin_subject.h"
#include "conformance/runners/process_command.h"
#include "conformance/runners/process_subject.h"
#include "conformance/suite/sets.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/sha256.h"
#include "reference/portable/accumulator.h"

namespace fp4proof::cli {

namespace {

struct Options {
  CheckOptions check;
  std::string library;
  std::string command;
  std::string framing = "text";
  std::string set = "quick";
  double seconds = 60;
};

Result<runners::CaseSource> cases_of(const Options& options) {
  const std::string& set = options.set;
  if (const suite::SetPlan* plan = suite::find_set(set)) {
    if (options.check.errata.empty()) return runners::CaseSource::named(*plan);
    return Error{ErrorKind::usage, fmt::format("--errata belongs to a set in a folder; {} is made here", set)};
  }
  std::error_code ignored;
  if (std::filesystem::is_directory(set, ignored)) {
    return runners::CaseSource::folder(
        set, options.check.errata.empty() ? std::nullopt : std::optional<std::filesystem::path>(options.check.errata));
  }
  return Error{ErrorKind::usage,
               fmt::format("--set {} is neither a set (smoke, quick, full) nor a folder", quote(set))};
}

std::chrono::milliseconds time_limit(const Options& options) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(options.seconds * 1000.0));
}

/// What is verified, and what is known about it beforehand.
struct Carrier {
  std::unique_ptr<runners::Subject> subject;
  verdict::SubjectFacts facts;
};

Result<Carrier> plugin_of(const Options& options) {
  const Result<FileDigest> digest = sha256_of_file(options.library);
  if (!digest) return digest.error();
  return Carrier{std::make_unique<runners::PluginSubject>(options.library, time_limit(options)),
                 {"plugin", options.library, to_hex(digest->digest)}};
}

/// Where PATH finds the program.
std::filesystem::path program_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* variable = std::getenv("PATH");
  std::istringstream folders(variable == nullptr ? "" : variable);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::filesystem::path path = std::filesystem::path(folder.empty() ? "." : folder) / program;
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return program;
}

/// The files that the arguments of a program name, as ARGUMENT or --option=ARGUMENT: scripts, programs, settings.
std::vector<std::string> argument_files(const std::vector<std::string>& arguments) {
  std::vector<std::string> files;
  std::error_code ignored;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& whole = arguments[i];
    const std::size_t equals = whole.find('=');
    if (std::filesystem::is_regular_file(whole, ignored)) {
      files.push_back(whole);
    } else if (equals != std::string::npos && std::filesystem::is_regular_file(whole.substr(equals + 1), ignored)) {
      files.push_back(whole.substr(equals + 1));
    }
  }
  return files;
}

/// Everything that is read and must not be replaced by a report.
Result<CheckInputs> inputs_of(const Options& options) {
  CheckInputs inputs;
  std::error_code ignored;
  if (suite::find_set(options.set) == nullptr && std::filesystem::is_directory(options.set, ignored))
    inputs.set = options.set;
  if (options.command.empty()) {
    inputs.files.push_back(options.library);
    return inputs;
  }
  const Result<std::vector<std::string>> arguments = runners::split_command(options.command);
  if (!arguments) return arguments.error();
  inputs.files = argument_files(*arguments);
  inputs.files.push_back(program_path(arguments->front()).string());
  return inputs;
}

Result<Carrier> process_of(const Options& options) {
  Result<std::vector<std::string>> arguments = runners::split_command(options.command);
  if (!arguments) return arguments.error();
  const Result<FileDigest> digest = sha256_of_file(program_path(arguments->front()));
  if (!digest) return digest.error();
  verdict::SubjectFacts facts{"process", options.command, to_hex(digest->digest)};
  for (const std::string& path : argument_files(*arguments)) {
    const Result<FileDigest> of_file = sha256_of_file(path);
    if (!of_file) return of_file.error();
    facts.files.push_back({path, to_hex(of_file->digest)});
  }
  const auto framing = options.framing == "binary" ? runners::ProcessFraming::binary : runners::ProcessFraming::text;
  return Carrier{std::make_unique<runners::ProcessSubject>(runners::ProcessCommand{std::move(*arguments), framing},
                                                           time_limit(options)),
                 std::move(facts)};
}

Result<ExitCode> run(const Options& options, Session& session) {
  if (options.library.empty() == options.command.empty()) {
    return Error{ErrorKind::usage, "name what is verified: either --backend LIB or --process \"COMMAND ARGUMENTS\""};
  }
  const Result<CheckInputs> inputs = inputs_of(options);
  if (!inputs) return inputs.error();
  if (const Result<void> apart = check_report_paths(options.check, *inputs); !apart) return apart.error();
  Result<Carrier> carrier = options.command.empty() ? plugin_of(options) : process_of(options);
  if (!carrier) return carrier.error();
  const Result<runners::CaseSource> cases = cases_of(options);
  if (!cases) return cases.error();
  std::optional<verdict::Waivers> waivers;
  Result<verdict::CheckRequest> request = check_request_of(options.check, "run", session, waivers);
  if (!request) return request.error();
  if (options.check.requirement.empty() && !options.check.profiles.empty())
    request->requirement = verdict::Requirement::standard;
  request->subject = carrier->subject.get();
  request->facts = carrier->facts;
  request->cases = &*cases;
  // Cases are small, and threads that wait for the next one would take the processors from the plug-in.
  omp_set_num_threads(1);
  return run_check(options.check, std::move(*request), session);
}

std::vector<std::string> accumulator_names() {
  std::vector<std::string> names;
  for (const portable::Accumulator accumulator : portable::accumulators) names.emplace_back(name_of(accumulator));
  return names;
}

Action add(CLI::App& command, Session& session) {
  auto options = std::make_shared<Options>();
  command.description(
      "Verify a kernel, a shared library or a program, to the bit.\n"
      "It runs in a process of its own, twice on each group of cases.");
  command.add_option("--backend", options->library, "A shared library with the interface of conformance/backend.h")
      ->option_text("LIB");
  command.add_option("--process", options->command, "A program that answers on its standard output, with arguments")
      ->option_text("COMMAND");
  command.add_option("--framing", options->framing, "How --process is asked: text (lines) or binary (frames)")
      ->check(CLI::IsMember({"text", "binary"}))
      ->capture_default_str();
  command.add_option("--set", options->set, "smoke, quick, full, or a folder with a set")
      ->option_text("S|DIR")
      ->capture_default_str();
  command.add_option("--timeout", options->seconds, "Seconds for each call")
      ->check(number_between(0.001, 1e6))
      ->capture_default_str();
  add_check_options(command, options->check, accumulator_names());
  add_statistical_options(command, options->check);
  command.footer(
      "With --profile, --require standard is the default.\n"
      "Example:\n"
      "  fp4proof run --backend ./libkernel.so --profile mxfp4/ocp\n"
      "  fp4proof run --backend ./libkernel.so --set smoke --operation quantize --json report.json\n"
      "  fp4proof run --backend ./libkernel.so --set full --shard all/16 --resume progress --report html=report.html\n"
      "Exit codes: 0 conformant, 1 mismatch, 4 the plug-in failed, 5 incomplete, 6 a required operation is not "
      "offered,\n"
      "7 two runs differ. docs/plug-ins.md shows how to write a plug-in.");
  return [options, &session] { return run(*options, session); };
}

}  // namespace

const Verb run_verb{"run", add};

}  // namespace fp4proof::cli
