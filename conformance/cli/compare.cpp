// fp4proof compare: one table of errors, tensors by profiles.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "conformance/cli/common_options.h"
#include "conformance/cli/correct_option.h"
#include "conformance/cli/corrected_tensor.h"
#include "conformance/cli/error_report.h"
#include "conformance/cli/quantize_stream.h"
#include "conformance/cli/table.h"
#include "conformance/cli/tensor_source.h"
#include "conformance/cli/verbs.h"
#include "conformance/cli/version.h"
#include "conformance/profiles/profile_lookup.h"
#include "conformance/vectors/os_error.h"
#include "reference/portable/dequantize.h"

namespace fp4proof::cli {

namespace {

struct Options {
  std::string input;
  std::vector<std::string> profiles;
  std::vector<std::string> tensors;
  int axis = -1;
  std::string tail = "pad";
  std::uint64_t seed = 0;
  std::string stack;
  bool json = false;
};

/// The errors of one tensor, one entry a profile.
struct Row {
  std::string tensor;
  std::vector<ErrorSums> errors;
};

Result<std::vector<SharedProfile>> chosen_profiles(const std::vector<std::string>& names) {
  std::vector<SharedProfile> chosen;
  for (const std::string& name : names) {
    const Result<SharedProfile> profile = find_profile_or_file(name);
    if (!profile) return profile.error();
    const auto same = [&](const SharedProfile& other) { return other->name == (*profile)->name; };
    if (std::any_of(chosen.begin(), chosen.end(), same)) {
      return Error{ErrorKind::usage, fmt::format("profile {} is given twice; keep one", quote((*profile)->name))};
    }
    chosen.push_back(*profile);
  }
  return chosen;
}

/// The stack of --correct, which every profile must be able to take; null for none.
Result<SharedStack> chosen_stack(const std::vector<SharedProfile>& profiles, const std::string& name) {
  SharedStack chosen;
  for (const SharedProfile& profile : profiles) {
    Result<SharedStack> stack = stack_for(*profile, name);
    if (!stack) return stack.error();
    chosen = *std::move(stack);
  }
  return chosen;
}

/// The errors of the corrected values of a whole tensor.
Result<ErrorSums> errors_under_stack(const SharedProfile& profile, const SharedStack& stack, const TensorSource& source,
                                     const portable::QuantizeOptions& options, Progress& progress) {
  QuantizedFile file;
  file.profile = profile;
  file.corrections = {stack, 0, ResidualForm::codes};
  auto corrected = correct_tensor(file, source, options);
  if (!corrected) return corrected.error();
  const std::vector<float> values = portable::dequantize(*corrected);
  progress.advance(static_cast<std::uint64_t>(values.size()));
  return corrected_errors(file, source, *corrected, values);
}

Result<ErrorSums> errors_under(const Profile& profile, const TensorSource& source,
                               const portable::QuantizeOptions& options, Progress& progress) {
  const auto geometry = portable::cut_into_blocks(profile, source.shape, options.axis, options.tail);
  if (!geometry) {
    return Error{geometry.error().kind, fmt::format("tensor {}: {}", quote(source.name), geometry.error().message)};
  }
  const TensorPlan plan{with_short_rows(profile, *geometry), portable::tensor_scale_of(profile, source.view())};
  ErrorSums sums;
  sums.bytes = stored_bytes(profile, *geometry);
  std::vector<float> values;
  const Result<void> done =
      quantize_in_chunks(profile, source, plan, options, progress, [&](const QuantizedChunk& chunk) -> Result<void> {
        values.resize(static_cast<std::size_t>(chunk.rows.count() * plan.geometry.columns));
        portable::dequantize_rows(profile, plan.geometry, plan.tensor_scale, chunk.rows.count(), chunk.codes,
                                  chunk.scales, values);
        sums.add(chunk_errors(profile, source, plan.geometry, chunk, values));
        return {};
      });
  if (!done) return done.error();
  return sums;
}

Row sum_of(const std::vector<Row>& rows, std::size_t profiles) {
  Row all{"all", std::vector<ErrorSums>(profiles)};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < profiles; ++i) all.errors[i].add(row.errors[i]);
  }
  return all;
}

/// The relative errors of a row; a star marks the smallest among the profiles that kept every value, an exclamation
/// mark those that lost some to NaN blocks.
std::vector<std::string> cells(const std::string& name, const Row& row) {
  std::int64_t compared = 0;
  for (const ErrorSums& sums : row.errors) compared = std::max(compared, sums.compared);
  double best = std::numeric_limits<double>::infinity();
  for (const ErrorSums& sums : row.errors) {
    if (sums.compared == compared) best = std::min(best, sums.relative_error());
  }
  std::vector<std::string> result = {name};
  for (const ErrorSums& sums : row.errors) {
    const double error = sums.relative_error();
    const bool whole = sums.compared == compared;
    result.push_back(short_number(error) + (!whole ? " !" : error == best ? " *" : "  "));
  }
  return result;
}

std::string table_of(const std::vector<Row>& rows, const Row& all, const std::vector<SharedProfile>& profiles) {
  Table table("lr");
  std::vector<std::string> heading = {"|e|^2/|x|^2"};
  for (const SharedProfile& profile : profiles) heading.push_back(std::string(profile->name) + "  ");
  table.add(std::move(heading));
  for (const Row& row : rows) table.add(cells(quote(row.tensor), row));
  if (rows.size() > 1) table.add(cells(all.tensor, all));
  std::vector<std::string> bits = {"bits/element"};
  for (const ErrorSums& sums : all.errors) bits.push_back(fmt::format("{:.3f}  ", sums.bits_per_element()));
  table.add(std::move(bits));
  return table.text();
}

nlohmann::json json_of(const Row& row, const std::vector<SharedProfile>& profiles) {
  nlohmann::json errors = nlohmann::json::object();
  for (std::size_t i = 0; i < profiles.size(); ++i) errors[std::string(profiles[i]->name)] = to_json(row.errors[i]);
  return errors;
}

void print_json(Session& session, const std::vector<Row>& rows, const Row& all,
                const std::vector<SharedProfile>& profiles, const SharedStack& stack) {
  nlohmann::json tensors = nlohmann::json::object();
  for (const Row& row : rows) tensors[row.tensor] = json_of(row, profiles);
  nlohmann::json names = nlohmann::json::array();
  for (const SharedProfile& profile : profiles) names.push_back(profile->name);
  nlohmann::json report = {{"all", json_of(all, profiles)},
                           {"format", "fp4proof-comparison/1"},
                           {"profiles", names},
                           {"tensors", tensors},
                           {"tool_version", tool_version}};
  if (stack != nullptr) report["corrections"] = stack_to_json(*stack);
  session.print_json(report);
}

Result<ExitCode> compare(const Options& options, Session& session) {
  const Result<std::vector<SharedProfile>> profiles = chosen_profiles(options.profiles);
  if (!profiles) return profiles.error();
  const Result<SharedStack> stack = chosen_stack(*profiles, options.stack);
  if (!stack) return stack.error();
  const std::string label = quote_path(options.input);
  const Result<SafetensorsFile> input = SafetensorsFile::open(options.input);
  if (!input) return input.error();
  const auto sources = float_tensors(*input, label, options.tensors, session);
  if (!sources) return sources.error();
  if (sources->empty()) {
    session.complain({ErrorKind::usage, fmt::format("{} holds no F32, F16 or BF16 tensor: nothing to compare", label)});
    return ExitCode::incomplete;
  }
  portable::QuantizeOptions settings;
  settings.axis = options.axis;
  settings.tail = tail_of(options.tail);
  settings.seed = options.seed;
  std::vector<Row> rows;
  {
    std::uint64_t total = 0;
    for (const TensorSource& source : *sources) {
      total += static_cast<std::uint64_t>(portable::element_count_of(source.shape)) * profiles->size();
    }
    Progress progress("comparing", total);
    for (const TensorSource& source : *sources) {
      Row row{source.name, {}};
      for (const SharedProfile& profile : *profiles) {
        const Result<ErrorSums> errors = *stack == nullptr
                                             ? errors_under(*profile, source, settings, progress)
                                             : errors_under_stack(profile, *stack, source, settings, progress);
        if (!errors) return errors.error();
        row.errors.push_back(*errors);
      }
      rows.push_back(std::move(row));
    }
  }
  const Row all = sum_of(rows, profiles->size());
  if (options.json) {
    print_json(session, rows, all, *profiles, *stack);
  } else {
    session.print(table_of(rows, all, *profiles));
    if (*stack != nullptr) session.print(fmt::format("corrected by {}\n", (*stack)->name));
  }
  return ExitCode::conformant;
}

constexpr const char* help =
    "Examples:\n"
    "  fp4proof compare in.safetensors --profiles mxfp4/ocp,mxfp4/rceil,hif4/gcc,nvfp4/tensor-scale\n"
    "  fp4proof compare in.safetensors --profiles mxfp4/ocp,my-profile.json --tensor layer.weight --json\n"
    "  fp4proof compare in.safetensors --profiles mxfp4/rceil,hif4/gcc --correct resq\n"
    "Each number is |e|^2/|x|^2, the sum of squared errors over the sum of squares; a star marks the smallest of a "
    "row,\nan exclamation mark a profile that lost values of that row to NaN blocks.\n"
    "The last line gives stored bits per element, codes and scales together, with --correct also macro bytes and\n"
    "residuals; errors are then those of the corrected values. 'fp4proof study' compares several stacks.";

Action add(CLI::App& command, Session& session) {
  auto options = std::make_shared<Options>();
  command.description("Compare profiles: the relative error of each float tensor under each of them.");
  command.footer(help);
  command.add_option("IN", options->input, "File to read (safetensors)")->required()->type_name("FILE");
  add_list_option(command, "--profiles", options->profiles, "Named profiles or profile files, separated by commas")
      ->required()
      ->option_text("P,P,... REQUIRED");
  add_correct_option(command, options->stack);
  add_tensor_option(command, options->tensors);
  add_axis_option(command, options->axis);
  add_tail_option(command, options->tail);
  add_seed_option(command, options->seed);
  command.add_flag("--json", options->json, "Print JSON instead of a table");
  session.add_threads_option(command);
  return [options, &session] { return compare(*options, session); };
}

}  // namespace

const Verb compare_verb{"compare", add};

}  // namespace fp4proof::cli
