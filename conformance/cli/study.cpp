// fp4proof study: profiles and corrections side by side, to choose from.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/cli/common_options.h"
#include "conformance/cli/same_file.h"
#include "conformance/cli/study_report.h"
#include "conformance/cli/study_run.h"
#include "conformance/cli/tensor_source.h"
#include "conformance/cli/verbs.h"
#include "conformance/cli/version.h"
#include "conformance/study/distributions.h"
#include "conformance/vectors/atomic_file.h"
#include "conformance/vectors/is_absent.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::cli {

namespace {

struct Options {
  std::string subject;
  std::vector<std::string> profiles;
  std::vector<std::string> corrections = {"none"};
  std::vector<std::string> tensors;
  bool per_tensor = false;
  std::int64_t rows = 512;
  std::int64_t columns = 4096;
  bool sized = false;  ///< --rows or --columns is given
  int axis = -1;
  std::string tail = "pad";
  std::uint64_t seed = 1;
  std::string json;
  std::string html;

  bool json_is_output() const { return json == "-"; }
};

/// A word that begins like a distribution is one; a file of such a name is written ./NAME.
bool names_distribution(std::string_view subject) {
  const std::string_view word = subject.substr(0, subject.find(':'));
  const std::vector<std::string> names = distribution_names();
  return word.starts_with("student-t") || std::find(names.begin(), names.end(), word) != names.end();
}

template <class Shared>
Result<void> add_distinct(std::vector<Shared>& chosen, const Result<Shared>& found, const char* what) {
  if (!found) return found.error();
  const auto same = [&](const Shared& other) { return other->name == (*found)->name; };
  if (std::any_of(chosen.begin(), chosen.end(), same)) {
    return Error{ErrorKind::usage, fmt::format("{} {} is given twice; keep one", what, quote((*found)->name))};
  }
  chosen.push_back(*found);
  return {};
}

Result<StudyPlan> plan_of(const Options& options) {
  StudyPlan plan;
  for (const std::string& name : options.profiles) {
    if (auto added = add_distinct(plan.profiles, find_profile_or_file(name), "profile"); !added) return added.error();
  }
  for (const std::string& name : options.corrections) {
    if (auto added = add_distinct(plan.stacks, find_stack_or_file(name), "stack"); !added) return added.error();
  }
  plan.options.axis = options.axis;
  plan.options.tail = tail_of(options.tail);
  plan.options.seed = options.seed;
  plan.weight_seed = options.seed;
  return plan;
}

Result<void> check_outputs(const Options& options) {
  if (options.html == "-") {
    return Error{ErrorKind::usage, "--html writes to a file; name one, for example study.html"};
  }
  std::vector<std::string> outputs;
  if (!options.json.empty() && !options.json_is_output()) outputs.push_back(options.json);
  if (!options.html.empty()) outputs.push_back(options.html);
  std::vector<std::string> inputs = options.profiles;
  inputs.insert(inputs.end(), options.corrections.begin(), options.corrections.end());
  inputs.push_back(options.subject);
  for (const std::string& output : outputs) {
    for (const std::string& input : inputs) {
      if (Result<void> apart = refuse_same_file(input, output); !apart) return apart;
    }
  }
  const auto place = [](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
  };
  if (outputs.size() == 2 && place(outputs[0]) == place(outputs[1])) {
    return Error{ErrorKind::usage,
                 fmt::format("--json and --html both write {}; give them two files", quote_path(outputs[0]))};
  }
  return {};
}

Result<void> check_subject(const Options& options) {
  if (!names_distribution(options.subject)) {
    if (!options.sized || is_absent(options.subject)) return {};
    return Error{ErrorKind::usage,
                 "--rows and --columns are the size of a distribution; remove them, a file has its own"};
  }
  if (!options.tensors.empty() || options.per_tensor) {
    return Error{ErrorKind::usage, "a distribution has no tensors to choose from; remove --tensor and --per-tensor"};
  }
  if (options.axis != -1) return Error{ErrorKind::usage, "the blocks of a distribution run along rows; remove --axis"};
  constexpr std::int64_t most = std::int64_t{1} << 28;
  if (options.rows > most / options.columns) {
    return Error{ErrorKind::usage,
                 fmt::format("{} x {} elements are too many; at most {}", options.rows, options.columns, most)};
  }
  return {};
}

/// A file that appears in commit().
Result<std::optional<AtomicFile>> open_output(const std::string& path) {
  if (path.empty() || path == "-") return std::optional<AtomicFile>();
  Result<AtomicFile> created = AtomicFile::create(path);
  if (!created) return created.error();
  return std::optional<AtomicFile>(*std::move(created));
}

Result<void> write_text(std::optional<AtomicFile>& file, const std::string& text) {
  if (!file) return {};
  Result<void> done = file->append({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  return done ? file->commit() : done;
}

std::uint64_t pairs_of(const StudyPlan& plan) { return plan.profiles.size() * plan.stacks.size(); }

Result<std::vector<StudyTable>> study_distribution(const Options& options, const StudyPlan& plan) {
  const Result<Distribution> distribution = parse_distribution(options.subject);
  if (!distribution) return distribution.error();
  const Bf16Matrix matrix = draw(*distribution, options.rows, options.columns, options.seed, 0);
  Progress progress("studying", pairs_of(plan));
  const auto table = study(plan, {name_of(*distribution), matrix.view()}, progress);
  if (!table) return table.error();
  return std::vector<StudyTable>{*table};
}

Result<std::vector<StudyTable>> study_file(const Options& options, const StudyPlan& plan, Session& session) {
  const std::string label = quote_path(options.subject);
  if (is_absent(options.subject) && options.subject.find_first_of("./") == std::string::npos) {
    // Neither a file nor a distribution: the message about distributions helps more.
    return parse_distribution(options.subject).error();
  }
  const Result<SafetensorsFile> input = SafetensorsFile::open(options.subject);
  if (!input) return input.error();
  const auto sources = float_tensors(*input, label, options.tensors, session);
  if (!sources) return sources.error();
  std::vector<StudyTable> tables;
  Progress progress("studying", pairs_of(plan) * sources->size());
  for (const TensorSource& source : *sources) {
    const auto table = study(plan, {source.name, source.view()}, progress);
    if (!table) return table.error();
    tables.push_back(*table);
  }
  if (tables.size() > 1) {
    StudyTable all = sum_of(tables);
    if (!options.per_tensor) tables.clear();
    tables.push_back(std::move(all));
  }
  return tables;
}

nlohmann::json report(const Options& options, const std::vector<StudyTable>& tables) {
  nlohmann::json subjects = nlohmann::json::array();
  for (const StudyTable& table : tables) subjects.push_back(to_json(table));
  return {{"format", "fp4proof-study/1"},
          {"tool_version", tool_version},
          {"subject", options.subject},
          {"seed", options.seed},
          {"axis", options.axis},
          {"tail", options.tail},
          {"tables", subjects}};
}

std::string description(const Options& options) {
  return names_distribution(options.subject)
             ? fmt::format("{}, {} x {} elements, seed {}", options.subject, options.rows, options.columns,
                           options.seed)
             : fmt::format("{}, weights of the products from seed {}",
                           std::filesystem::path(options.subject).filename().string(), options.seed);
}

Result<ExitCode> run(const Options& options, Session& session) {
  if (const auto sound = check_subject(options); !sound) return sound.error();
  const Result<StudyPlan> plan = plan_of(options);
  if (!plan) return plan.error();
  if (const auto apart = check_outputs(options); !apart) return apart.error();
  auto json_file = open_output(options.json);
  if (!json_file) return json_file.error();
  auto html_file = open_output(options.html);
  if (!html_file) return html_file.error();

  const auto tables =
      names_distribution(options.subject) ? study_distribution(options, *plan) : study_file(options, *plan, session);
  if (!tables) return tables.error();
  if (tables->empty()) {
    session.complain({ErrorKind::usage, fmt::format("{} holds no F32, F16 or BF16 tensor: nothing to study",
                                                    quote_path(options.subject))});
    return ExitCode::incomplete;
  }
  if (auto written = write_text(*html_file, study_page(*tables, description(options))); !written) {
    return written.error();
  }
  const std::string json =
      report(options, *tables).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (auto written = write_text(*json_file, json); !written) return written.error();
  if (options.json_is_output()) {
    session.print(json);
  } else {
    for (std::size_t i = 0; i < tables->size(); ++i) session.print((i == 0 ? "" : "\n") + study_text((*tables)[i]));
  }
  if (tables->back().is_empty()) {
    session.complain({ErrorKind::usage, "every pair of profile and corrections was refused: nothing was studied"});
    return ExitCode::incomplete;
  }
  return ExitCode::conformant;
}

constexpr const char* help =
    "Distributions: gaussian, student-tN, laplace, uniform, lognormal, outlier-channels; parameters follow a colon, "
    "as in\n  outlier-channels:gain=16,period=64   (docs/study.md lists them). A file of such a name is written "
    "./NAME.\n"
    "Examples:\n"
    "  fp4proof study gaussian --profiles mxfp4/rceil,hif4/gcc --corrections none,resq,mbs\n"
    "  fp4proof study model.safetensors --profiles mxfp4/rceil,nvfp4/tensor-scale --html study.html\n"
    "  fp4proof study model.safetensors --profiles mxfp4/ocp --tensor layer.weight --per-tensor --json -\n"
    "Pairs that contradict each other are listed as refused, with the reason. docs/study.md defines every column.";

Action add(CLI::App& command, Session& session) {
  auto options = std::make_shared<Options>();
  command.description("Study profiles and corrections side by side: error, its parts, products, bits.");
  command.footer(help);
  command.add_option("SUBJECT", options->subject, "File to read (safetensors), or a distribution")
      ->required()
      ->type_name("FILE|DISTRIBUTION");
  add_list_option(command, "--profiles", options->profiles, "Named profiles or profile files, separated by commas")
      ->required()
      ->option_text("P,P,... REQUIRED");
  add_list_option(command, "--corrections", options->corrections, "Named stacks or stack files (default: none)")
      ->option_text("S,S,...");
  add_tensor_option(command, options->tensors);
  command.add_flag("--per-tensor", options->per_tensor, "One table a tensor, and one over all");
  const CLI::Range sizes(std::int64_t{1}, std::int64_t{1} << 28);
  const CLI::Option* rows = command.add_option("--rows", options->rows, "Rows of a distribution (default: 512)")
                                ->check(sizes)
                                ->option_text("N");
  const CLI::Option* columns =
      command.add_option("--columns", options->columns, "Columns of a distribution (default: 4096)")
          ->check(sizes)
          ->option_text("N");
  add_axis_option(command, options->axis);
  add_tail_option(command, options->tail);
  command.add_option("--seed", options->seed, "Seed of distributions, weights and stochastic rounding (default: 1)")
      ->check(decimal_number(false))
      ->option_text("S");
  command.add_option("--json", options->json, "Write all numbers to this file; - prints JSON in place of the table")
      ->option_text("FILE|-");
  command.add_option("--html", options->html, "Write a page of charts to this file")->option_text("FILE");
  session.add_threads_option(command);
  return [options, rows, columns, &session] {
    options->sized = rows->count() + columns->count() > 0;
    return run(*options, session);
  };
}

}  // namespace

const Verb study_verb{"study", add};

}  // namespace fp4proof::cli
