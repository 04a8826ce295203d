// fp4proof decompose: what the error of each tensor consists of.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/cli/common_options.h"
#include "conformance/cli/decompose_detail.h"
#include "conformance/cli/decompose_json.h"
#include "conformance/cli/decompose_picture.h"
#include "conformance/cli/decompose_report.h"
#include "conformance/cli/decompose_stream.h"
#include "conformance/cli/error_report.h"
#include "conformance/cli/profile_option.h"
#include "conformance/cli/same_file.h"
#include "conformance/cli/tensor_source.h"
#include "conformance/cli/verbs.h"
#include "conformance/cli/version.h"
#include "conformance/corrections/stack_lookup.h"
#include "conformance/vectors/atomic_file.h"
#include "conformance/vectors/os_error.h"
#include "reference/portable/correct.h"

namespace fp4proof::cli {

namespace {

using portable::ErrorSplit;
using portable::Geometry;

struct Options {
  std::string input;
  ProfileOption profile;
  std::string stack;
  int axis = -1;
  std::string tail = "pad";
  std::uint64_t seed = 0;
  std::vector<std::string> tensors;
  std::string sort = "error";
  std::size_t top = 0;
  std::string json;
  std::string svg;
  bool blocks = false;
  bool elements = false;

  bool json_is_output() const { return json == "-"; }
};

/// A tensor ready to be decomposed.
struct Prepared {
  TensorPlan plan;
  std::vector<float> values;  ///< the corrected tensor; empty without corrections
};

/// A count with a space between groups of three digits.
std::string grouped(std::int64_t count) {
  std::string text = fmt::format("{}", count);
  for (std::size_t digits = 3; digits < text.size(); digits += 4) text.insert(text.size() - digits, " ");
  return text;
}

Result<void> append_text(AtomicFile& file, const std::string& text) {
  if (Result<void> done = file.append({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}); !done) {
    return done;
  }
  return file.commit();
}

class Decomposer {
 public:
  Decomposer(const Options& options, Session& session) : options_(options), session_(session) {
    settings_.axis = options.axis;
    settings_.tail = tail_of(options.tail);
    settings_.seed = options.seed;
  }

  Result<ExitCode> run() {
    if (const Result<void> sound = check_options(); !sound) return sound.error();
    const std::string label = quote_path(options_.input);
    const Result<SafetensorsFile> input = SafetensorsFile::open(options_.input);
    if (!input) return input.error();
    Result<std::vector<TensorSource>> sources = float_tensors(*input, label, options_.tensors, session_);
    if (!sources) return sources.error();
    if (sources->empty()) {
      session_.complain(
          {ErrorKind::usage, fmt::format("{} holds no F32, F16 or BF16 tensor: nothing to decompose", label)});
      return ExitCode::incomplete;
    }
    sources_ = *std::move(sources);
    if (const Result<void> fits = check_limits(); !fits) return fits.error();
    if (const Result<void> opened = open_outputs(); !opened) return opened.error();
    if (const Result<void> done = decompose_all(); !done) return done.error();
    if (const Result<void> written = write(); !written) return written.error();
    return verdict();
  }

 private:
  Result<void> check_options() {
    if ((options_.blocks || options_.elements) && (options_.json.empty() || options_.tensors.empty())) {
      return Error{ErrorKind::usage,
                   "--blocks and --elements write single tensors to the JSON; add --json and --tensor"};
    }
    const Result<SharedProfile> profile = options_.profile.resolve();
    if (!profile) return profile.error();
    profile_ = *profile;
    if (!options_.stack.empty()) {
      const Result<SharedStack> stack = find_stack_or_file(options_.stack);
      if (!stack) return stack.error();
      stack_ = *stack;
      if (Result<void> fits = portable::check_stack(*profile_, *stack_); !fits) return fits;
    }
    return refuse_shared_files();
  }

  Result<void> refuse_shared_files() const {
    if (options_.svg == "-") {
      return Error{ErrorKind::usage, "--svg writes to a file; name one, for example error.svg"};
    }
    std::vector<std::string> outputs;
    if (!options_.json.empty() && !options_.json_is_output()) outputs.push_back(options_.json);
    if (!options_.svg.empty()) outputs.push_back(options_.svg);
    for (const std::string& output : outputs) {
      for (const std::string& source : {options_.input, options_.profile.name, options_.stack}) {
        if (Result<void> apart = refuse_same_file(source, output); !apart) return apart;
      }
    }
    std::error_code ignored;
    const auto place = [&](const std::string& path) {
      return std::filesystem::weakly_canonical(std::filesystem::absolute(path, ignored), ignored);
    };
    if (outputs.size() == 2 && place(outputs[0]) == place(outputs[1])) {
      return Error{ErrorKind::usage,
                   fmt::format("--json and --svg both write {}; give them two files", quote_path(outputs[0]))};
    }
    return {};
  }

  Result<void> check_limits() const {
    for (const TensorSource& source : sources_) {
      const Result<Geometry> geometry = cut(source);
      if (!geometry) return geometry.error();
      const std::int64_t blocks = geometry->rows * geometry->blocks;
      const std::int64_t elements = geometry->rows * geometry->columns;
      if (options_.blocks && blocks > most_listed_blocks) return too_many("--blocks", source, blocks, "blocks");
      if (options_.elements && elements > most_listed_elements) {
        return too_many("--elements", source, elements, "elements");
      }
    }
    return {};
  }

  static Error too_many(const char* option, const TensorSource& source, std::int64_t count, const char* what) {
    const std::int64_t most = option == std::string("--blocks") ? most_listed_blocks : most_listed_elements;
    return {ErrorKind::usage, fmt::format("{} lists at most {} {} a tensor; tensor {} has {}", option, most, what,
                                          quote(source.name), count)};
  }

  Result<Geometry> cut(const TensorSource& source) const {
    Result<Geometry> geometry = portable::cut_into_blocks(*profile_, source.shape, settings_.axis, settings_.tail);
    return geometry ? std::move(geometry) : named(source, geometry.error());
  }

  static Error named(const TensorSource& source, const Error& error) {
    return {error.kind, fmt::format("tensor {}: {}", quote(source.name), error.message)};
  }

  /// Outputs are opened before the work, so that an unwritable one costs no time.
  Result<void> open_outputs() {
    const auto open = [](const std::string& path, std::optional<AtomicFile>& file) -> Result<void> {
      Result<AtomicFile> created = AtomicFile::create(path);
      if (!created) return created.error();
      file = *std::move(created);
      return {};
    };
    if (!options_.json.empty() && !options_.json_is_output()) {
      if (Result<void> opened = open(options_.json, json_file_); !opened) return opened;
    }
    return options_.svg.empty() ? Result<void>() : open(options_.svg, svg_file_);
  }

  Result<Prepared> prepare(const TensorSource& source) const {
    Result<Geometry> geometry = cut(source);
    if (!geometry) return geometry.error();
    Prepared prepared{{*std::move(geometry), portable::tensor_scale_of(*profile_, source.view())}, {}};
    if (stack_ == nullptr) return prepared;
    const auto corrected = portable::correct(*profile_, *stack_, source.view(), {.quantize = settings_});
    if (!corrected) return named(source, corrected.error());
    prepared.values = portable::dequantize(*corrected);
    return prepared;
  }

  DecomposeTask task_of(const TensorSource& source, const Prepared& prepared) const {
    return {*profile_, source, prepared.plan, settings_, prepared.values};
  }

  Result<void> decompose_all() {
    std::uint64_t total = 0;
    for (const TensorSource& source : sources_) {
      total += static_cast<std::uint64_t>(portable::element_count_of(source.shape));
    }
    Progress progress("decomposing", total);
    for (const TensorSource& source : sources_) {
      const Result<Prepared> prepared = prepare(source);
      if (!prepared) return prepared.error();
      const DecomposeTask task = task_of(source, *prepared);
      const Result<ErrorSplit> split = decompose_tensor(task, progress);
      if (!split) return split.error();
      splits_.push_back({source.name, *split});
      if (const Result<void> listed = list(task); !listed) return listed;
    }
    all_ = sum_of(splits_);
    rank(splits_, options_.sort);
    return {};
  }

  Result<void> list(const DecomposeTask& task) {
    const auto keep = [&](nlohmann::json& object, Result<nlohmann::json> listed) -> Result<void> {
      if (!listed) return listed.error();
      object[task.source.name] = *std::move(listed);
      return {};
    };
    Progress silent("listing", 0);
    if (options_.blocks) {
      if (Result<void> kept = keep(blocks_, listed_blocks(task, silent)); !kept) return kept;
    }
    return options_.elements ? keep(elements_, listed_elements(task, silent)) : Result<void>();
  }

  Result<void> write() {
    if (svg_file_) {
      const Result<std::string> svg = picture();
      if (!svg) return svg.error();
      if (Result<void> written = append_text(*svg_file_, *svg); !written) return written;
    }
    if (json_file_) {
      const std::string text = report().dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
      if (Result<void> written = append_text(*json_file_, text); !written) return written;
    }
    if (options_.json_is_output()) {
      session_.print_json(report());
    } else {
      session_.print(decomposition_table(splits_, all_, options_.top));
      session_.print(decomposition_remarks(all_, stack_ != nullptr));
    }
    return {};
  }

  nlohmann::json report() const {
    nlohmann::json tensors = nlohmann::json::object();
    nlohmann::json ranking = nlohmann::json::array();
    for (const NamedSplit& tensor : splits_) {
      tensors[tensor.name] = to_json(tensor.split, all_.error);
      ranking.push_back(tensor.name);
    }
    nlohmann::json report = {{"format", "fp4proof-decomposition/1"},
                             {"tool_version", tool_version},
                             {"profile", profile_to_json(*profile_)},
                             {"corrections", stack_ == nullptr ? nlohmann::json() : stack_to_json(*stack_)},
                             {"axis", options_.axis},
                             {"tail", options_.tail},
                             {"seed", options_.seed},
                             {"factor", portable::decomposition_factor(*profile_)},
                             {"sort", options_.sort},
                             {"ranking", ranking},
                             {"tensors", tensors},
                             {"all", to_json(all_, all_.error)}};
    if (options_.blocks) report["blocks"] = blocks_;
    if (options_.elements) report["elements"] = elements_;
    return report;
  }

  /// The tensor with the largest share of the error.
  const TensorSource& worst() const {
    const NamedSplit* worst = &splits_.front();
    for (const NamedSplit& tensor : splits_) {
      if (tensor.split.error > worst->split.error) worst = &tensor;
    }
    const auto found = std::find_if(sources_.begin(), sources_.end(),
                                    [&](const TensorSource& source) { return source.name == worst->name; });
    return *found;
  }

  const ErrorSplit& split_of(const std::string& name) const {
    return std::find_if(splits_.begin(), splits_.end(), [&](const NamedSplit& tensor) { return tensor.name == name; })
        ->split;
  }

  Result<std::string> picture() const {
    DecompositionPicture picture;
    picture.title = fmt::format("Error decomposition under {}", profile_->name);
    if (stack_ != nullptr) picture.title += fmt::format(", corrected by {}", stack_->name);
    picture.subtitle = fmt::format("{}: {} {}, {} elements, |e|\u00b2/|x|\u00b2 = {}",
                                   std::filesystem::path(options_.input).filename().string(), splits_.size(),
                                   splits_.size() == 1 ? "tensor" : "tensors", grouped(all_.elements),
                                   short_number(all_.relative_error()));
    picture.tensors = splits_;
    picture.all = all_;
    picture.is_corrected = stack_ != nullptr;
    const TensorSource& source = worst();
    PictureDetail closely{source.name, split_of(source.name), {}, {}};
    if (closely.split.elements == 0) return to_svg(picture);
    const Result<Prepared> prepared = prepare(source);
    if (!prepared) return prepared.error();
    Progress progress("drawing", static_cast<std::uint64_t>(closely.split.elements));
    Result<TensorDetail> detail = look_closely(task_of(source, *prepared), progress);
    if (!detail) return detail.error();
    closely.geometry = prepared->plan.geometry;
    closely.detail = *std::move(detail);
    picture.closely = &closely;
    return to_svg(picture);
  }

  /// Where no term was rounded the terms add up: rule D3.
  ExitCode verdict() {
    if (all_.identity_failures <= all_.inexact) return ExitCode::conformant;
    session_.complain(
        {ErrorKind::internal,
         fmt::format("the terms of {} elements do not add up to their error, though only {} were rounded; "
                     "please report this",
                     all_.identity_failures, all_.inexact)});
    return ExitCode::internal;
  }

  const Options& options_;
  Session& session_;
  portable::QuantizeOptions settings_;
  SharedProfile profile_;
  SharedStack stack_;
  std::vector<TensorSource> sources_;
  std::vector<NamedSplit> splits_;
  ErrorSplit all_;
  nlohmann::json blocks_ = nlohmann::json::object();
  nlohmann::json elements_ = nlohmann::json::object();
  std::optional<AtomicFile> json_file_;
  std::optional<AtomicFile> svg_file_;
};

constexpr const char* help =
    "Examples:\n"
    "  fp4proof decompose model.safetensors --profile mxfp4/ocp\n"
    "  fp4proof decompose model.safetensors --profile mxfp4/rceil --sort deadzone --top 10 --svg picture.svg\n"
    "  fp4proof decompose model.safetensors --profile mxfp4/rceil --correct resq --json result.json\n"
    "  fp4proof decompose model.safetensors --profile hif4/gcc --tensor layer.weight --blocks --json -\n"
    "scale: the coded scale stands in place of the real one. deadzone: numbers that even the real scale makes zero.\n"
    "grid: the rounding of all others. deadzone and grid together are the floor: they remain with real scales.\n"
    "The picture shows the tensors side by side, and the one with the largest error closely.\n"
    "docs/decomposition.md shows how to read both.";

void add_input_options(CLI::App& command, Options& options) {
  command.add_option("IN", options.input, "File to read (safetensors)")->required()->type_name("FILE");
  options.profile.add_to(command);
  command.add_option("--correct", options.stack, "A named correction stack, or a file with one, *.json")
      ->option_text("STACK");
  add_tensor_option(command, options.tensors);
  add_axis_option(command, options.axis);
  add_tail_option(command, options.tail);
  add_seed_option(command, options.seed);
}

void add_output_options(CLI::App& command, Options& options) {
  command
      .add_option("--sort", options.sort,
                  "Rank tensors by what they add to |e|^2 (error, default), by one term, or by name")
      ->check(CLI::IsMember({"error", "scale", "deadzone", "grid", "name"}))
      ->option_text("error|scale|deadzone|grid|name");
  command.add_option("--top", options.top, "Print the first N tensors, the others as one line (default: all)")
      ->check(decimal_number(false))
      ->check(CLI::Range(1, 1000000))
      ->option_text("N");
  command.add_option("--json", options.json, "Write every sum to this file; - prints JSON in place of the table")
      ->option_text("FILE|-");
  command.add_option("--svg", options.svg, "Write the picture to this file")->option_text("FILE");
  command.add_flag("--blocks", options.blocks,
                   fmt::format("Also the sums of every block of the named tensors, up to {}", most_listed_blocks));
  command.add_flag("--elements", options.elements,
                   fmt::format("Also the terms of every element of the named tensors, up to {}", most_listed_elements));
}

Action add(CLI::App& command, Session& session) {
  auto options = std::make_shared<Options>();
  command.description("Decompose the error of each float tensor into scale, deadzone and grid.");
  command.footer(help);
  add_input_options(command, *options);
  add_output_options(command, *options);
  session.add_threads_option(command);
  return [options, &session] { return Decomposer(*options, session).run(); };
}

}  // namespace

const Verb decompose_verb{"decompose", add};

}  // namespace fp4proof::cli
