// fp4proof minimize: the smallest case that a kernel still gets wrong in the same way.

#include <fmt/format.h>
#include <omp.h>

#include <charconv>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "conformance/cli/common_options.h"
#include "conformance/cli/progress.h"
#include "conformance/cli/same_file.h"
#include "conformance/cli/verbs.h"
#include "conformance/cli/version.h"
#include "conformance/minimize/minimal_set.h"
#include "conformance/minimize/pick_smallest.h"
#include "conformance/profiles/profile_lookup.h"
#include "conformance/runners/file_subject.h"
#include "conformance/runners/plugin_subject.h"
#include "conformance/runners/process_command.h"
#include "conformance/runners/process_subject.h"
#include "conformance/suite/sets.h"
#include "conformance/vectors/atomic_file.h"
#include "conformance/vectors/is_absent.h"
#include "conformance/vectors/os_error.h"
#include "reference/portable/accumulator.h"

namespace fp4proof::cli {

namespace {

using minimize::Ending;
using minimize::MinimalCase;

struct Options {
  std::string library;
  std::string process;
  std::string framing = "text";
  std::string actual;
  std::string set = "quick";
  std::string case_id;
  std::string class_name;
  std::vector<std::string> profiles;
  std::string operation;
  std::string accumulator;
  double seconds = 60;
  std::size_t errors = 10;
  std::size_t calls = 2000;
  bool ignore_codes_under_nan = false;
  std::string json;
  std::string save;
  std::string out;
  bool force = false;

  bool json_is_output() const { return json == "-"; }
};

/// What was found, and how complete it is.
struct Outcome {
  std::vector<MinimalCase> cases;
  std::uint64_t compared = 0;
  std::uint64_t unsupported = 0;
  bool stopped = false;
  std::string problem;  ///< why the subject could not be asked
};

Result<runners::CaseSource> cases_of(const Options& options) {
  const suite::SetPlan* plan = suite::find_set(options.set);
  if (plan != nullptr && options.actual.empty()) return runners::CaseSource::named(*plan);
  std::error_code ignored;
  if (plan == nullptr && std::filesystem::is_directory(options.set, ignored)) {
    return runners::CaseSource::folder(options.set);
  }
  return Error{
      ErrorKind::usage,
      options.actual.empty()
          ? fmt::format("--set {} is neither a set (smoke, quick, full) nor a folder", quote(options.set))
          : fmt::format("--actual needs --set DIR, the folder of the set that the answers belong to; {} is none",
                        quote(options.set))};
}

Result<std::optional<std::uint64_t>> case_id_of(const Options& options) {
  if (options.case_id.empty()) return std::optional<std::uint64_t>();
  std::uint64_t id = 0;
  const char* end = options.case_id.data() + options.case_id.size();
  const auto parsed = std::from_chars(options.case_id.data(), end, id, 16);
  if (parsed.ec == std::errc() && parsed.ptr == end && options.case_id.size() == 16) return std::optional(id);
  return Error{ErrorKind::usage, fmt::format("--case {}: an id has 16 hexadecimal digits", quote(options.case_id))};
}

Result<minimize::Search> search_of(const Options& options) {
  minimize::Search search;
  search.operation = suite::operation_named(options.operation);
  search.accumulator = options.accumulator;
  search.class_name = options.class_name;
  search.most_found = options.errors;
  search.rules.ignore_codes_under_nan = options.ignore_codes_under_nan;
  const auto id = case_id_of(options);
  if (!id) return id.error();
  search.case_id = *id;
  for (const std::string& name : options.profiles) {
    const Result<SharedProfile> profile = find_profile_or_file(name);
    if (!profile) return profile.error();
    search.profiles.push_back(*profile);
  }
  return search;
}

Result<std::unique_ptr<runners::Subject>> subject_of(const Options& options) {
  const auto limit = std::chrono::milliseconds(static_cast<std::int64_t>(options.seconds * 1000.0));
  if (!options.library.empty()) {
    return std::unique_ptr<runners::Subject>(std::make_unique<runners::PluginSubject>(options.library, limit));
  }
  Result<std::vector<std::string>> arguments = runners::split_command(options.process);
  if (!arguments) return arguments.error();
  const auto framing = options.framing == "binary" ? runners::ProcessFraming::binary : runners::ProcessFraming::text;
  return std::unique_ptr<runners::Subject>(
      std::make_unique<runners::ProcessSubject>(runners::ProcessCommand{*std::move(arguments), framing}, limit));
}

/// Progress under one label; a bar for each stage.
std::function<void(std::size_t)> bar(std::optional<Progress>& progress, std::string label) {
  return [&progress, label = std::move(label)](std::size_t total) {
    if (!progress) progress.emplace(label, total);
    progress->advance(1);
  };
}

Result<MinimalCase> minimize_one(runners::Subject& subject, const Options& options, const minimize::FoundCase& found) {
  std::optional<Progress> progress;
  minimize::JudgeOptions judge_options;
  judge_options.rules.ignore_codes_under_nan = options.ignore_codes_under_nan;
  judge_options.most_calls = options.calls;
  const auto advance = bar(progress, "minimising, calls of at most");
  judge_options.progress = [&] { advance(options.calls); };
  minimize::Judge judge(subject, found.topic, std::move(judge_options));
  return minimize::minimize_found(judge, found);
}

Result<Outcome> minimize_all(const Options& options, minimize::Search search) {
  Result<std::unique_ptr<runners::Subject>> made = subject_of(options);
  if (!made) return made.error();
  runners::Subject& subject = **made;
  Outcome outcome;
  const runners::SubjectReply opened = subject.open();
  if (opened.kind != runners::SubjectReply::Kind::ok) {
    outcome.problem = opened.why;
    return outcome;
  }
  std::optional<Progress> progress;
  search.progress = bar(progress, "looking for failures");
  Result<minimize::FoundCases> found = minimize::find_failures(subject, search);
  progress.reset();
  if (!found) return found.error();
  outcome.compared = found->compared;
  outcome.unsupported = found->unsupported;
  outcome.stopped = found->stopped;
  for (const minimize::FoundCase& one : found->cases) {
    Result<MinimalCase> minimal = minimize_one(subject, options, one);
    if (!minimal) return minimal.error();
    outcome.cases.push_back(*std::move(minimal));
  }
  subject.close();
  return outcome;
}

Result<Outcome> pick_all(const Options& options, minimize::Search search) {
  Result<SafetensorsFile> answers = SafetensorsFile::open(options.actual);
  if (!answers) return answers.error();
  std::optional<Progress> progress;
  search.progress = bar(progress, "looking for failures");
  runners::FileSubject subject(*std::move(answers), *search.cases->vector_set());
  Result<minimize::PickedCases> picked = minimize::pick_smallest(subject, search);
  if (!picked) return picked.error();
  Outcome outcome;
  outcome.cases = std::move(picked->cases);
  outcome.compared = picked->compared;
  return outcome;
}

ExitCode code_of(const MinimalCase& one) {
  if (!one.minimal.failure.fault.empty()) return ExitCode::plugin_failed;
  const bool unsteady = one.minimal.failure.finding.cause == verify::Cause::nondeterministic;
  return unsteady ? ExitCode::nondeterministic : ExitCode::mismatch;
}

ExitCode code_of(const Outcome& outcome, const Options& options) {
  if (!outcome.problem.empty()) return ExitCode::plugin_failed;
  ExitCode code = ExitCode::conformant;
  if (outcome.compared == 0 && outcome.cases.empty()) {
    code = outcome.unsupported != 0 && !options.operation.empty() ? ExitCode::unsupported : ExitCode::incomplete;
  }
  for (const MinimalCase& one : outcome.cases) code = worse_of(code, code_of(one));
  return code;
}

std::string summary(const Outcome& outcome) {
  if (!outcome.problem.empty()) return "nothing was compared\n";
  if (outcome.cases.empty() && outcome.compared == 0) {
    return fmt::format("nothing was compared: {} cases are not offered\n", outcome.unsupported);
  }
  if (outcome.cases.empty()) {
    return fmt::format("nothing fails: {} cases compared{}\n", outcome.compared,
                       outcome.unsupported == 0 ? "" : fmt::format(", {} not offered", outcome.unsupported));
  }
  std::size_t minimal = 0;
  for (const MinimalCase& one : outcome.cases) minimal += one.minimal.ending == Ending::minimal ? 1 : 0;
  return fmt::format("{} ways to fail, {} of them minimised{}\n", outcome.cases.size(), minimal,
                     outcome.stopped ? "; there are more, --errors N shows them" : "");
}

nlohmann::json document_of(const Outcome& outcome, ExitCode code) {
  nlohmann::json cases = nlohmann::json::array();
  for (const MinimalCase& one : outcome.cases) cases.push_back(minimize::to_json(one));
  return {{"format", "fp4proof-minimize/1"},     {"tool_version", tool_version},
          {"exit_code", static_cast<int>(code)}, {"compared", outcome.compared},
          {"unsupported", outcome.unsupported},  {"stopped", outcome.stopped},
          {"problem", outcome.problem},          {"cases", cases}};
}

Result<void> write_json(const std::string& path, const nlohmann::json& document) {
  return write_file(path, bytes_of(document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"));
}

Result<void> write_files(const Outcome& outcome, const Options& options, ExitCode code) {
  if (!options.json.empty() && !options.json_is_output()) {
    if (const auto done = write_json(options.json, document_of(outcome, code)); !done) return done;
  }
  if (outcome.cases.empty()) return {};
  if (!options.save.empty()) {
    if (const auto done = write_json(options.save, minimize::waivers_of(outcome.cases)); !done) return done;
  }
  if (options.out.empty()) return {};
  return minimize::write_minimal_set(options.out, options.force, std::string(tool_version), outcome.cases);
}

Result<void> check_paths(const Options& options) {
  for (const std::string& input : {options.library, options.actual}) {
    for (const std::string& output : {options.json, options.save}) {
      if (input.empty() || output.empty() || output == "-") continue;
      if (const Result<void> apart = refuse_same_file(input, output); !apart) return apart;
    }
  }
  return {};
}

Result<ExitCode> run(const Options& options, Session& session) {
  const int subjects = int{!options.library.empty()} + int{!options.process.empty()} + int{!options.actual.empty()};
  if (subjects != 1) return Error{ErrorKind::usage, "name one of --backend, --process and --actual"};
  if (const Result<void> apart = check_paths(options); !apart) return apart.error();
  if (!options.library.empty() && is_absent(options.library)) {
    return Error{ErrorKind::usage, fmt::format("{}: there is no such file", quote(options.library))};
  }
  const Result<runners::CaseSource> cases = cases_of(options);
  if (!cases) return cases.error();
  Result<minimize::Search> search = search_of(options);
  if (!search) return search.error();
  search->cases = &*cases;
  // Questions are small, and threads that wait for the next one would take the processors from the plug-in.
  omp_set_num_threads(1);
  const Result<Outcome> outcome = options.actual.empty() ? minimize_all(options, *search) : pick_all(options, *search);
  if (!outcome) return outcome.error();
  const ExitCode code = code_of(*outcome, options);
  if (!outcome->problem.empty()) session.complain({ErrorKind::internal, outcome->problem});
  if (const Result<void> written = write_files(*outcome, options, code); !written) return written.error();
  if (options.json_is_output()) {
    session.print_json(document_of(*outcome, code));
    return code;
  }
  if (!options.actual.empty() && !outcome->cases.empty()) {
    session.note("answers in a file cannot be asked again: the smallest failing cases are picked, not minimised");
  }
  for (const MinimalCase& one : outcome->cases) session.print(minimize::to_text(one) + "\n");
  session.print(summary(*outcome));
  return code;
}

std::vector<std::string> accumulator_names() {
  std::vector<std::string> names;
  for (const portable::Accumulator accumulator : portable::accumulators) names.emplace_back(name_of(accumulator));
  return names;
}

void add_choice(CLI::App& command, Options& options) {
  command.add_option("--set", options.set, "smoke, quick, full, or a folder with a set")
      ->option_text("S|DIR")
      ->capture_default_str();
  CLI::Option* id = command.add_option("--case", options.case_id, "Only this case of the set")->option_text("ID");
  command.add_option("--class", options.class_name, "Only cases of this class")->option_text("NAME")->excludes(id);
  command.add_option("--profile", options.profiles, "Only this profile; may be repeated")
      ->option_text("P")
      ->allow_extra_args(false);
  command.add_option("--operation,--op", options.operation, "Only this operation")
      ->check(CLI::IsMember(std::vector<std::string>(suite::operation_names.begin(), suite::operation_names.end())));
  command.add_option("--accumulate", options.accumulator, "Only products with this accumulator")
      ->check(CLI::IsMember(accumulator_names()));
  command.add_flag("--ignore-codes-under-nan", options.ignore_codes_under_nan,
                   "Do not look at element codes under a NaN scale");
  command.add_option("--errors", options.errors, "At most so many cases, one for each way to fail")
      ->check(CLI::Range(1, 1000))
      ->option_text("N")
      ->capture_default_str();
  command.add_option("--calls", options.calls, "At most so many calls to the kernel for each case")
      ->check(CLI::Range(1, 10'000'000))
      ->option_text("N")
      ->capture_default_str();
}

Action add(CLI::App& command, Session& session) {
  auto options = std::make_shared<Options>();
  command.description(
      "Shrink cases that a kernel gets wrong: the fewest nonzero elements and the simplest bits that still fail in "
      "the\n"
      "same way, with the steps that lead to the right answer.");
  command.add_option("--backend", options->library, "The kernel as a shared library")->option_text("LIB");
  CLI::Option* process =
      command.add_option("--process", options->process, "The kernel as a program")->option_text("COMMAND");
  command.add_option("--framing", options->framing, "With --process: how it is asked")
      ->check(CLI::IsMember({"text", "binary"}))
      ->needs(process)
      ->capture_default_str();
  command
      .add_option("--actual", options->actual, "Answers in a file: the smallest failing cases are picked, not shrunk")
      ->option_text("FILE");
  command.add_option("--timeout", options->seconds, "Seconds for each call")
      ->check(number_between(0.001, 1e6))
      ->capture_default_str();
  add_choice(command, *options);
  command.add_option("--json", options->json, "Write the cases as JSON; - prints them in place of the text")
      ->option_text("FILE|-");
  command.add_option("--save", options->save, "Write a file of waivers to fill in")->option_text("FILE");
  CLI::Option* out =
      command.add_option("--out", options->out, "Write a set of vectors with the minimal cases")->option_text("DIR");
  command.add_flag("--force", options->force, "Replace the set in DIR")->needs(out);
  command.footer(
      "Example:\n"
      "  fp4proof minimize --backend ./libkernel.so --profile mxfp4/ocp\n"
      "  fp4proof minimize --backend ./libkernel.so --class ties --out minimal\n"
      "  fp4proof run --backend ./libkernel.so --set minimal\n"
      "Exit codes: 0 nothing fails, 1 minimised, 4 the kernel crashes or hangs, 5 nothing was compared, 6 the "
      "operation\n"
      "is not offered, 7 two runs differ. docs/minimize.md describes output and JSON.");
  return [options, &session] { return run(*options, session); };
}

}  // namespace

const Verb minimize_verb{"minimize", add};

}  // namespace fp4proof::cli
