// fp4proof export: vectors in the files of other tools.

#include "conformance/export/export_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "conformance/cli/common_options.h"
#include "conformance/cli/progress.h"
#include "conformance/cli/verbs.h"
#include "conformance/cli/version.h"
#include "conformance/profiles/nearest_name.h"
#include "conformance/profiles/profile_lookup.h"
#include "conformance/suite/sets.h"
#include "conformance/vectors/counted.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::cli {

namespace {

struct Options {
  std::string set = "quick";
  std::string folder;
  std::vector<std::string> formats;
  std::string words = "element";
  std::vector<std::string> profiles;
  std::string operation;
  std::vector<std::string> groups;
  bool force = false;
};

template <class Names>
std::vector<std::string> texts(const Names& names) {
  return {std::begin(names), std::end(names)};
}

/// The place of `word` in `names`; a `usage` error suggests the nearest.
template <class Names>
Result<std::size_t> place_of(const std::string& word, const Names& names, std::string_view what) {
  const std::vector<std::string> known = texts(names);
  const auto found = std::ranges::find(known, word);
  if (found != known.end()) return static_cast<std::size_t>(found - known.begin());
  return Error{ErrorKind::usage, fmt::format("unknown {} {}{}; known are {}", what, quote(word),
                                             did_you_mean(word, known), fmt::join(known, ", "))};
}

Result<runners::CaseSource> open_cases(const Options& options) {
  if (const suite::SetPlan* plan = suite::find_set(options.set)) return runners::CaseSource::named(*plan);
  std::error_code ignored;
  if (std::filesystem::is_directory(options.set, ignored)) return runners::CaseSource::folder(options.set);
  std::vector<std::string> names;
  for (const suite::SetPlan& set : suite::sets()) names.emplace_back(set.name);
  return Error{ErrorKind::usage, fmt::format("--set {} is neither a set ({}) nor a folder{}", quote(options.set),
                                             fmt::join(names, ", "), did_you_mean(options.set, names))};
}

Result<exports::ExportRequest> request_of(const Options& options) {
  exports::ExportRequest request;
  request.folder = options.folder;
  request.tool_version = tool_version;
  request.groups = options.groups;
  request.force = options.force;
  if (suite::find_set(options.set) == nullptr) request.set_folder = options.set;
  for (const std::string& name : options.formats) {
    const Result<std::size_t> format = place_of(name, exports::format_names, "format");
    if (!format) return format.error();
    const auto value = static_cast<exports::Format>(*format);
    if (std::ranges::find(request.formats, value) == request.formats.end()) request.formats.push_back(value);
  }
  const Result<std::size_t> words = place_of(options.words, exports::granularity_names, "kind of words");
  if (!words) return words.error();
  request.words = static_cast<exports::Granularity>(*words);
  if (!options.operation.empty()) {
    const Result<std::size_t> operation = place_of(options.operation, suite::operation_names, "operation");
    if (!operation) return operation.error();
    request.operation = suite::operations[*operation];
  }
  for (const std::string& name : options.profiles) {
    const Result<SharedProfile> profile = find_profile_or_file(name);
    if (!profile) return profile.error();
    request.profiles.push_back(*profile);
  }
  return request;
}

Result<ExitCode> run(const Options& options, Session& session) {
  Result<exports::ExportRequest> request = request_of(options);
  if (!request) return request.error();
  const Result<runners::CaseSource> cases = open_cases(options);
  if (!cases) return cases.error();
  request->cases = &*cases;
  std::optional<Progress> progress;
  request->progress = [&](std::size_t total) {
    if (!progress) progress.emplace("exporting", total);
    progress->advance(1);
  };
  const Result<exports::ExportSummary> done = exports::export_set(*request);
  progress.reset();
  if (!done) return done.error();
  if (done->withdrawn != 0) session.note(fmt::format("{} left out: withdrawn", counted(done->withdrawn, "case")));
  session.print(fmt::format("{}: {} of {} in {}, {}\n", options.folder, counted(done->cases, "case"),
                            counted(done->tables, "table"), counted(done->groups, "group"),
                            counted(done->files, "file")));
  return ExitCode::conformant;
}

Action add(CLI::App& command, Session& session) {
  auto options = std::make_shared<Options>();
  command.description("Write vectors for simulators and other tools: $readmemh, CSV, C, npy, native safetensors.");
  command.add_option("--set", options->set, "smoke, quick, full, or a folder with a set")
      ->option_text("S|DIR")
      ->capture_default_str();
  command.add_option("--out", options->folder, "The folder to make; it appears complete or not at all")
      ->required()
      ->option_text("DIR");
  add_list_option(command, "--format", options->formats, "Of hex, csv, c-header, npy, safetensors; comma-separated")
      ->required()
      ->option_text("F,...");
  command
      .add_option("--words", options->words,
                  "What stands at one address: element (one code, scale or number), packed (as in the set: two 4-bit\n"
                  "codes a byte), block (a whole block, first element lowest; hex and csv)")
      ->option_text("W")
      ->capture_default_str();
  command.add_option("--profile", options->profiles, "Only the cases of this profile; may be repeated")
      ->option_text("P")
      ->allow_extra_args(false);
  command.add_option("--operation,--op", options->operation, "Only the cases of this operation")->option_text("OP");
  command.add_option("--group", options->groups, "Only groups of this name, for example 1x32; may be repeated")
      ->option_text("G")
      ->allow_extra_args(false);
  command.add_flag("--force", options->force, "Replace the export that DIR holds");
  session.add_threads_option(command);
  command.footer(
      "Example:\n"
      "  fp4proof export --out decoder --format hex --words block --profile mxfp4/ocp --op dequantize\n"
      "  fp4proof export --out arrays --format npy,csv --set smoke --profile hif4/gcc\n"
      "docs/hardware.md describes the files.");
  return [options, &session] { return run(*options, session); };
}

}  // namespace

const Verb export_verb{"export", add};

}  // namespace fp4proof::cli
