// fp4proof explain: one block under the microscope.

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "conformance/cli/common_options.h"
#include "conformance/cli/profile_option.h"
#include "conformance/cli/same_file.h"
#include "conformance/cli/tensor_place.h"
#include "conformance/cli/tensor_source.h"
#include "conformance/cli/terminal.h"
#include "conformance/cli/verbs.h"
#include "conformance/explain/block_source.h"
#include "conformance/explain/explain.h"
#include "conformance/explain/explanation_json.h"
#include "conformance/explain/explanation_text.h"
#include "conformance/explain/written_values.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::cli {

namespace {

using explain::BlockQuestion;
using explain::Explanation;

constexpr const char* standard_output = "-";

struct Options {
  ProfileOption profile;
  std::optional<std::string> values;
  std::optional<std::string> from;
  explain::BlockAddress address;
  std::string tail = "error";
  std::optional<std::string> random;
  std::uint64_t seed = 0;
  std::optional<std::string> tensor_scale;
  std::optional<int> element;
  bool all = false;
  std::string json;
};

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

Result<BlockQuestion> stored_block(const Options& options, const Profile& profile,
                                   const explain::Randomness& randomness, Session& session) {
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
  explain::BlockAddress address = options.address;
  address.tail = options.tail == "pad" ? portable::Tail::pad : portable::Tail::error;
  Result<BlockQuestion> question = explain::block_of_tensor(profile, sources->front().view(), address, randomness);
  if (!question) return in_option(fmt::format("tensor {}", quote(place->tensor)), question.error());
  question->source = fmt::format("{}, tensor {}, {}", label, quote(place->tensor), question->source);
  return question;
}

Result<BlockQuestion> question_of(const Options& options, const Profile& profile, Session& session) {
  if (options.values.has_value() == options.from.has_value()) {
    return Error{ErrorKind::usage, "say which block: either --values \"v0,v1,...\" or --from FILE.safetensors:TENSOR"};
  }
  const Result<explain::Randomness> randomness = randomness_of(options);
  if (!randomness) return randomness.error();
  return options.values ? written_block(options, profile, *randomness)
                        : stored_block(options, profile, *randomness, session);
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

Result<void> write_json(const std::string& path, const Explanation& explanation, Session& session) {
  const nlohmann::json value = explain::explanation_json(explanation);
  if (path == standard_output) {
    session.print_json(value);
    return {};
  }
  const std::string text = value.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  return write_file(path, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

Result<ExitCode> run(const Options& options, Session& session) {
  const Result<SharedProfile> profile = options.profile.resolve();
  if (!profile) return profile.error();
  if (const Result<void> inside = check_element(options, **profile); !inside) return inside.error();
  Result<BlockQuestion> question = question_of(options, **profile, session);
  if (!question) return question.error();
  const Result<Explanation> explanation = explain::explain_block(**profile, *std::move(question));
  if (!explanation) return explanation.error();
  if (!options.json.empty()) {
    if (const Result<void> written = write_json(options.json, *explanation, session); !written) return written.error();
  }
  if (options.json != standard_output) {
    session.print(explain::explanation_text(*explanation,
                                            {session.colour_output(), options.all, options.element, window_width()}));
  }
  return ExitCode::conformant;
}

constexpr const char* examples =
    "Values are decimals (0.1), hexadecimal floats (0x1.8p+2), bits of a word (0x40c00000), inf or nan. Fewer values\n"
    "than the block has are continued with zeros. docs/explain.md describes text and JSON.\n"
    "Examples:\n"
    "  fp4proof explain --profile mxfp4/ocp --values \"0.5,6,0.24,0.25,-0.75\"\n"
    "  fp4proof explain --profile hif4/gcc --values \"10,-3,0.7\" --element 2\n"
    "  fp4proof explain --profile mxfp4/rceil-sr8 --values \"1,2.1\" --random \"0,0xe7000000\"\n"
    "  fp4proof explain --profile nvfp4/direct --from model.safetensors:weight --block 3\n"
    "  fp4proof explain --profile mxfp4/ocp --values 1,2,3 --json -";

Action add(CLI::App& command, Session& session) {
  command.description("Show every step from the numbers of one block to its bits");
  auto options = std::make_shared<Options>();
  options->profile.add_to(command);
  command.add_option("--values", options->values, "The numbers of the block, separated by commas")->type_name("LIST");
  CLI::Option* from = command.add_option("--from", options->from, "Take the block from a tensor of a file")
                          ->type_name("FILE.safetensors:TENSOR");
  command.add_option("--block", options->address.block, "With --from: which block, along a row first (default: 0)")
      ->needs(from)
      ->type_name("B");
  command.add_option("--axis", options->address.axis, "With --from: the block axis (default: -1, the last)")
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
