// fp4proof explain: one block under the microscope.

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "conformance/cli/common_options.h"
#include "conformance/cli/correct_option.h"
#include "conformance/cli/profile_option.h"
#include "conformance/cli/same_file.h"
#include "conformance/cli/tensor_place.h"
#include "conformance/cli/tensor_source.h"
#include "conformance/cli/terminal.h"
#include "conformance/cli/verbs.h"
#include "conformance/corrections/stack_lookup.h"
#include "conformance/explain/block_source.h"
#include "conformance/explain/correction_json.h"
#include "conformance/explain/correction_text.h"
#include "conformance/explain/decomposition_show.h"
#include "conformance/explain/explain.h"
#include "conformance/explain/explanation_json.h"
#include "conformance/explain/explanation_text.h"
#include "conformance/explain/written_values.h"
#include "conformance/vectors/os_error.h"
#include "reference/portable/correct.h"

namespace fp4proof::cli {

namespace {

using explain::BlockQuestion;
using explain::CorrectionContext;
using explain::Explanation;

constexpr const char* standard_output = "-";

struct Options {
  ProfileOption profile;
  std::optional<std::string> values;
  std::optional<std::string> from;
  std::optional<std::int64_t> block;
  int axis = -1;
  std::string tail = "error";
  std::optional<std::string> random;
  std::uint64_t seed = 0;
  std::optional<std::string> tensor_scale;
  CLI::Option* correct = nullptr;
  std::string stack;
  std::optional<std::uint32_t> product;
  bool decompose = false;
  std::optional<int> element;
  bool all = false;
  std::string json;
};

explain::BlockAddress address_of(const Options& options) {
  explain::BlockAddress address;
  address.axis = options.axis;
  address.block = options.block.value_or(0);
  return address;
}

Error in_option(std::string_view option, const Error& error) {
  return {error.kind, fmt::format("{}: {}", option, error.message)};
}

Result<explain::Randomness> randomness_of(const Options& options) {
  explain::Randomness randomness;
  randomness.seed = options.seed;
  if (!options.random) return randomness;
  Result<std::vector<std::uint32_t>> words = explain::parse_words(*options.random);
  if (!words) return in_option("--random", words.error());
  randomness.words = *std::move(words);
  return randomness;
}

Result<std::optional<float>> tensor_scale_of(const Options& options) {
  if (!options.tensor_scale) return std::optional<float>();
  const Result<std::vector<std::uint32_t>> words = explain::parse_values(*options.tensor_scale);
  if (!words) return in_option("--tensor-scale", words.error());
  if (words->size() != 1) return Error{ErrorKind::usage, "--tensor-scale takes one number"};
  return std::optional<float>(float_from_bits(words->front()));
}

Result<BlockQuestion> written_block(const Options& options, const Profile& profile,
                                    const explain::Randomness& randomness) {
  const Result<std::vector<std::uint32_t>> values = explain::parse_values(*options.values);
  if (!values) return in_option("--values", values.error());
  const Result<std::optional<float>> tensor_scale = tensor_scale_of(options);
  if (!tensor_scale) return tensor_scale.error();
  return explain::block_of_values(profile, *values, randomness, *tensor_scale);
}

/// The question that `cut` makes of the tensor that is asked for and of the block's address.
template <class Question, class Cut>
Result<Question> ask_tensor(const Options& options, Session& session, Cut cut) {
  if (options.tensor_scale) {
    return Error{ErrorKind::usage, "--tensor-scale goes with --values; a tensor has its own"};
  }
  const Result<TensorPlace> place = parse_tensor_place(*options.from, "--from");
  if (place) {
    if (const Result<void> apart = refuse_same_file(place->file, options.json); !apart) return apart.error();
  }
  if (!place) return place.error();
  const std::string label = quote_path(place->file);
  const Result<SafetensorsFile> file = SafetensorsFile::open(place->file);
  if (!file) return file.error();
  const auto sources = float_tensors(*file, label, {place->tensor}, session);
  if (!sources) return sources.error();
  explain::BlockAddress address = address_of(options);
  address.tail = options.tail == "pad" ? portable::Tail::pad : portable::Tail::error;
  Result<Question> question = cut(sources->front().view(), address);
  if (!question) return in_option(fmt::format("tensor {}", quote(place->tensor)), question.error());
  question->source = fmt::format("{}, tensor {}, {}", label, quote(place->tensor), question->source);
  return question;
}

Result<void> check_source(const Options& options) {
  if (options.values.has_value() == options.from.has_value()) {
    return Error{ErrorKind::usage, "say which block: either --values \"v0,v1,...\" or --from FILE.safetensors:TENSOR"};
  }
  return {};
}

Result<BlockQuestion> question_of(const Options& options, const Profile& profile, Session& session) {
  const Result<explain::Randomness> randomness = randomness_of(options);
  if (!randomness) return randomness.error();
  if (options.values) return written_block(options, profile, *randomness);
  return ask_tensor<BlockQuestion>(options, session, [&](const portable::TensorView& tensor, const auto& address) {
    return explain::block_of_tensor(profile, tensor, address, *randomness);
  });
}

Result<CorrectionContext> context_of(const Options& options, const Profile& profile, const CorrectionStack& stack,
                                     Session& session) {
  const Result<explain::Randomness> randomness = randomness_of(options);
  if (!randomness) return randomness.error();
  if (options.from) {
    return ask_tensor<CorrectionContext>(
        options, session, [&](const portable::TensorView& tensor, const auto& address) {
          return explain::context_of_tensor(profile, stack, tensor, address, *randomness);
        });
  }
  if (options.tensor_scale) {
    return Error{ErrorKind::usage, "--tensor-scale goes without --correct: a corrected tensor has its own"};
  }
  const Result<std::vector<std::uint32_t>> values = explain::parse_values(*options.values);
  if (!values) return in_option("--values", values.error());
  return explain::context_of_values(profile, stack, *values, *randomness, address_of(options).block);
}

std::size_t window_width() {
  winsize size{};
  if (!is_terminal(stdout) || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

Result<void> check_element(const Options& options, const Profile& profile) {
  const int size = profile.block.size();
  if (!options.element || (*options.element >= 0 && *options.element < size)) return {};
  return Error{ErrorKind::usage, fmt::format("--element {} is not one of the {} elements of the block (0..{})",
                                             *options.element, size, size - 1)};
}

/// Writes the JSON where it is asked for, and prints the text where the JSON does not go there.
Result<ExitCode> show(const Options& options, const nlohmann::json& value, const std::string& text, Session& session) {
  if (options.json == standard_output) {
    session.print_json(value);
    return ExitCode::conformant;
  }
  if (!options.json.empty()) {
    const std::string dump = value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    const Result<void> written =
        write_file(options.json, {reinterpret_cast<const std::uint8_t*>(dump.data()), dump.size()});
    if (!written) return written.error();
  }
  session.print(text);
  return ExitCode::conformant;
}

explain::TextOptions text_options(const Options& options, const Session& session) {
  return {session.colour_output(), options.all, options.element, window_width()};
}

/// As the command line parser says it; whether --block needs --from depends on --correct.
Error requires_option(std::string_view option, std::string_view other) {
  return {ErrorKind::usage, fmt::format("explain: {} requires {}; see 'fp4proof explain --help'", option, other)};
}

Result<ExitCode> run_plain(const Options& options, const Profile& profile, Session& session) {
  if (const Result<void> none = check_product(options.product, false); !none) return none.error();
  if (options.block && !options.from) return requires_option("--block", "--from");
  Result<BlockQuestion> question = question_of(options, profile, session);
  if (!question) return question.error();
  const Result<Explanation> explanation = explain::explain_block(profile, *std::move(question));
  if (!explanation) return explanation.error();
  nlohmann::json value = explain::explanation_json(*explanation);
  const explain::TextOptions how = text_options(options, session);
  std::string text = explain::explanation_text(*explanation, how);
  if (options.decompose && explanation->elements.empty()) value["decomposition"] = nullptr;
  if (options.decompose && !explanation->elements.empty()) {
    const explain::PlainBlock plain(*explanation);
    const auto decomposition = explain::decompose_block(plain.question());
    if (!decomposition) return decomposition.error();
    value["decomposition"] = explain::decomposition_json(*decomposition);
    text += explain::decomposition_text(*decomposition, how);
  }
  return show(options, value, text, session);
}

Result<ExitCode> run_corrected(const Options& options, const Profile& profile, Session& session) {
  const Result<SharedStack> stack = find_stack_or_file(options.stack);
  if (!stack) return stack.error();
  const CorrectionStack& corrections = **stack;
  if (const Result<void> numbers = check_product(options.product, has_fresh_signs(*stack)); !numbers) {
    return numbers.error();
  }
  if (const Result<void> apart = refuse_same_file(options.stack, options.json); !apart) return apart.error();
  if (const Result<void> sound = portable::check_stack(profile, corrections); !sound) return sound.error();
  if (const Result<void> inside = check_element(options, corrections.effective(profile)); !inside)
    return inside.error();
  Result<CorrectionContext> context = context_of(options, profile, corrections, session);
  if (!context) return context.error();
  const auto story =
      explain::explain_correction(profile, corrections, *std::move(context), options.product.value_or(0));
  if (!story) return story.error();
  return show(options, explain::correction_json(*story),
              explain::correction_text(*story, text_options(options, session)), session);
}

Result<ExitCode> run(const Options& options, Session& session) {
  const Result<SharedProfile> profile = options.profile.resolve();
  if (!profile) return profile.error();
  if (options.correct->count() > 0) {
    if (const Result<void> one = check_source(options); !one) return one.error();
    return run_corrected(options, **profile, session);
  }
  if (const Result<void> inside = check_element(options, **profile); !inside) return inside.error();
  if (const Result<void> one = check_source(options); !one) return one.error();
  return run_plain(options, **profile, session);
}

constexpr const char* examples =
    "Values are decimals (0.1), hexadecimal floats (0x1.8p+2), bits of a word (0x40c00000), inf or nan. Fewer values\n"
    "than the block has are continued with zeros. docs/explain.md describes text and JSON.\n"
    "Examples:\n"
    "  fp4proof explain --profile mxfp4/ocp --values \"0.5,6,0.24,0.25,-0.75\"\n"
    "  fp4proof explain --profile hif4/gcc --values \"10,-3,0.7\" --element 2\n"
    "  fp4proof explain --profile mxfp4/rceil-sr8 --values \"1,2.1\" --random \"0,0xe7000000\"\n"
    "  fp4proof explain --profile nvfp4/direct --from model.safetensors:weight --block 3\n"
    "  fp4proof explain --profile mxfp4/ocp --values 1,2,3 --json -\n"
    "  fp4proof explain --profile mxfp4/rceil --correct resq --values \"0.5,6,0.24,0.25,-0.75\" --element 2\n"
    "  fp4proof explain --profile mxfp4/ocp --values 1,2.1,0.1 --decompose";

Action add(CLI::App& command, Session& session) {
  command.description("Show every step from the numbers of one block to its bits");
  auto options = std::make_shared<Options>();
  options->profile.add_to(command);
  command.add_option("--values", options->values, "The numbers of the block, separated by commas")->type_name("LIST");
  CLI::Option* from = command.add_option("--from", options->from, "Take the block from a tensor of a file")
                          ->type_name("FILE.safetensors:TENSOR");
  command
      .add_option("--block", options->block, "With --from or --correct: which block, along a row first (default: 0)")
      ->type_name("B");
  command.add_option("--axis", options->axis, "With --from: the block axis (default: -1, the last)")
      ->needs(from)
      ->type_name("N");
  command
      .add_option("--tail", options->tail, "With --from: an incomplete last block is an error, or padded with zeros")
      ->needs(from)
      ->check(CLI::IsMember({"error", "pad"}));
  CLI::Option* random =
      command.add_option("--random", options->random, "Stochastic rounding: the random word of each element")
          ->type_name("LIST");
  command.add_option("--seed", options->seed, "Stochastic rounding: Philox seed of the random words (default: 0)")
      ->check(decimal_number(false))
      ->excludes(random)
      ->type_name("S");
  command.add_option("--tensor-scale", options->tensor_scale, "NVFP4: the tensor scale (default: from the values)")
      ->type_name("T");
  options->correct = add_correct_option(command, options->stack);
  add_product_option(command, options->product);
  command.add_flag("--decompose", options->decompose, "Decompose the error of the block; --correct always does");
  command.add_option("--element", options->element, "Everything about this element instead of the table")
      ->type_name("I");
  command.add_flag("--all", options->all, "A line for every element, runs of zeros too");
  command.add_option("--json", options->json, "Write the explanation as JSON; - for the standard output")
      ->type_name("FILE");
  command.footer(examples);
  return [options, &session] { return run(*options, session); };
}

}  // namespace

const Verb explain_verb{"explain", add};

}  // namespace fp4proof::cli
