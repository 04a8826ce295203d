// fp4proof gemm: the product of two quantized matrices.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/cli/common_options.h"
#include "conformance/cli/correct_option.h"
#include "conformance/cli/corrected_tensor.h"
#include "conformance/cli/quantized_rows.h"
#include "conformance/cli/same_file.h"
#include "conformance/cli/stored_corrections.h"
#include "conformance/cli/tensor_place.h"
#include "conformance/cli/tensor_source.h"
#include "conformance/cli/verbs.h"
#include "conformance/corrections/stack_lookup.h"
#include "conformance/profiles/nearest_name.h"
#include "conformance/profiles/profile_lookup.h"
#include "conformance/vectors/os_error.h"
#include "reference/portable/correct.h"

namespace fp4proof::cli {

namespace {

struct Options {
  std::string a;
  std::string b;
  std::string output;
  std::string profile;
  std::string profile_b;
  std::string stack;
  std::string stack_b;
  std::optional<std::uint32_t> product;
  std::string accumulator = "seq512";
  std::string tail = "error";
  std::uint64_t seed = 0;
};

/// What the user says about one operand.
struct OperandRequest {
  const std::string& place;
  std::string profile;
  std::string stack;         ///< as it was named; empty: none
  SharedStack shared_stack;  ///< for a float operand without a stack of its own
  std::optional<std::uint32_t> product;
  portable::QuantizeOptions settings;
};

/// A coded matrix. The names in it live as long as `profile` and `stack`.
struct Operand {
  SharedProfile profile;
  SharedStack stack;  ///< null: plain
  portable::Corrected matrix;

  FactorOrigin origin() const { return {*profile, matrix.stack}; }
};

Result<TensorPlace> parse_operand(const std::string& text) { return parse_tensor_place(text, "gemm: operand"); }

Error at_operand(const std::string& text, const Error& error) {
  return {error.kind, fmt::format("operand {}: {}", quote(text), error.message)};
}

Error is_stored_under(std::string_view own, std::string_view wanted, const char* what) {
  return {ErrorKind::usage,
          fmt::format("it is quantized under {}, not under {}; leave {} out, or name that one", own, wanted, what)};
}

/// A stored operand keeps its own profile and stack: others must not be asked for.
Result<void> check_stored(const OperandRequest& request, const QuantizedFile& description) {
  if (!request.profile.empty()) {
    const Result<SharedProfile> wanted = find_profile_or_file(request.profile);
    if (!wanted) return wanted.error();
    if ((*wanted)->name != description.profile->name) {
      return is_stored_under(description.profile->name, (*wanted)->name, "the profile");
    }
  }
  if (!request.stack.empty()) {
    const Result<SharedStack> wanted = find_stack_or_file(request.stack);
    if (!wanted) return wanted.error();
    const CorrectionStack own = description.corrections ? *description.corrections->stack : CorrectionStack{};
    const bool both_plain = !description.corrections && !corrects(**wanted);
    if (!both_plain && own != **wanted) {
      return is_stored_under(description.corrections ? fmt::format("stack {}", own.name) : "no stack",
                             fmt::format("stack {}", (*wanted)->name), "the stack");
    }
  }
  return {};
}

/// An operand whose codes and scales are in the file. Its own profile and stack count.
Result<Operand> stored_operand(const SafetensorsFile& file, const QuantizedFile& description,
                               const TensorRecord& record, const OperandRequest& request, std::string_view label) {
  if (const Result<void> checked = check_stored(request, description); !checked) return checked.error();
  auto matrix = read_corrected(description, record, file, label);
  if (!matrix) return matrix.error();
  return Operand{description.profile, description.corrections ? description.corrections->stack : nullptr,
                 *std::move(matrix)};
}

/// A float operand, quantized along its last axis.
Result<Operand> fresh_operand(const SafetensorsFile& file, const std::string& name, const OperandRequest& request,
                              std::string_view label, Session& session) {
  if (request.profile.empty()) {
    return Error{ErrorKind::usage, "it is no quantized tensor, so it needs a profile (--profile)"};
  }
  const Result<SharedProfile> profile = find_profile_or_file(request.profile);
  if (!profile) return profile.error();
  SharedStack stack = request.shared_stack;
  if (!request.stack.empty()) {
    Result<SharedStack> named = stack_for(**profile, request.stack);
    if (!named) return named.error();
    stack = *std::move(named);
  }
  const auto sources = float_tensors(file, label, {name}, session);
  if (!sources) return sources.error();
  auto matrix = portable::correct(**profile, stack == nullptr ? CorrectionStack{} : *stack, sources->front().view(),
                                  {.quantize = request.settings, .product = request.product.value_or(0)});
  if (!matrix) return matrix.error();
  return Operand{*profile, std::move(stack), *std::move(matrix)};
}

Result<Operand> load_operand(const OperandRequest& request, Session& session) {
  const Result<TensorPlace> place = parse_operand(request.place);
  if (!place) return place.error();
  const std::string label = quote_path(place->file);
  const Result<SafetensorsFile> file = SafetensorsFile::open(place->file);
  if (!file) return file.error();
  Result<Operand> operand = Error{};
  bool stored = false;
  if (is_quantized_file(*file)) {
    const Result<QuantizedFile> description = read_quantized_file(*file, label);
    if (!description) return description.error();
    const Result<const TensorRecord*> record = record_named(*description, place->tensor, label);
    stored = record.ok();
    if (stored) operand = stored_operand(*file, *description, **record, request, label);
  }
  if (!stored) operand = fresh_operand(*file, place->tensor, request, label, session);
  if (!operand) return at_operand(request.place, operand.error());
  if (operand->matrix.geometry().shape.size() != 2) {
    return at_operand(request.place,
                      {ErrorKind::usage, fmt::format("it has shape [{}]; gemm takes matrices",
                                                     fmt::join(operand->matrix.geometry().shape, ", "))});
  }
  return operand;
}

/// The stack of --correct, and what B gets of it: everything but the residual. Null where there is none.
struct Stacks {
  SharedStack a;
  SharedStack b;
};

Result<Stacks> stacks_of(const Options& options) {
  Stacks stacks;
  if (!options.stack.empty()) {
    const Result<SharedStack> a = find_stack_or_file(options.stack);
    if (!a) return a.error();
    stacks.a = *a;
    const Result<SharedStack> b = without_residual(*a);
    if (!b) return b.error();
    if (corrects(**b)) stacks.b = *b;
  }
  if (!options.stack_b.empty()) {
    const Result<SharedStack> b = find_stack_or_file(options.stack_b);
    if (!b) return b.error();
    stacks.b = *b;
  }
  const bool any_fresh = has_fresh_signs(stacks.a) || has_fresh_signs(stacks.b);
  if (const Result<void> sound = check_product(options.product, any_fresh); !sound) return sound.error();
  return stacks;
}

Result<portable::Accumulator> accumulator_named(const std::string& name) {
  if (const auto accumulator = portable::find_accumulator(name)) return *accumulator;
  std::vector<std::string> known;
  for (const portable::Accumulator accumulator : portable::accumulators) known.emplace_back(name_of(accumulator));
  return Error{ErrorKind::usage, fmt::format("unknown accumulator {}{}; there are {}", quote(name),
                                             did_you_mean(name, known), fmt::join(known, " "))};
}

Result<ExitCode> gemm(const Options& options, Session& session) {
  const Result<portable::Accumulator> accumulator = accumulator_named(options.accumulator);
  if (!accumulator) return accumulator.error();
  for (const std::string* operand : {&options.a, &options.b}) {
    const Result<TensorPlace> place = parse_operand(*operand);
    if (!place) return place.error();
    if (const Result<void> apart = refuse_same_file(place->file, options.output); !apart) return apart.error();
  }
  for (const std::string* source : {&options.profile, &options.profile_b, &options.stack, &options.stack_b}) {
    if (const Result<void> apart = refuse_same_file(*source, options.output); !apart) return apart.error();
  }
  const Result<Stacks> stacks = stacks_of(options);
  if (!stacks) return stacks.error();
  portable::QuantizeOptions settings;
  settings.tail = tail_of(options.tail);
  settings.seed = options.seed;
  const Result<Operand> a =
      load_operand({options.a, options.profile, options.stack, stacks->a, options.product, settings}, session);
  if (!a) return a.error();
  settings.stream = Stream::sr_weight;
  const std::string& profile_b = options.profile_b.empty() ? options.profile : options.profile_b;
  const Result<Operand> b =
      load_operand({options.b, profile_b, options.stack_b, stacks->b, options.product, settings}, session);
  if (!b) return b.error();
  const auto product = portable::gemm(a->matrix, b->matrix, *accumulator);
  if (!product) {
    return Error{product.error().kind,
                 fmt::format("{} (A is {}, B is {})", product.error().message, quote(options.a), quote(options.b))};
  }
  const std::vector<std::uint64_t> shape = {static_cast<std::uint64_t>(a->matrix.geometry().rows),
                                            static_cast<std::uint64_t>(b->matrix.geometry().rows)};
  const std::vector<TensorData> tensors = {{{"C", TensorDtype::f32, shape}, bytes_of(*product)}};
  const SafetensorsMetadata metadata = product_metadata(a->origin(), b->origin(), options.accumulator);
  if (const Result<void> written = write_safetensors(options.output, tensors, metadata); !written) {
    return written.error();
  }
  return ExitCode::conformant;
}

constexpr const char* help =
    "Examples:\n"
    "  fp4proof gemm a.safetensors:x b.safetensors:w c.safetensors --profile mxfp4/ocp\n"
    "  fp4proof gemm a.safetensors:x b.safetensors:w c.safetensors --profile mxfp8-e4m3/ocp --profile-b mxfp4/ocp\n"
    "  fp4proof gemm q.safetensors:x q.safetensors:w c.safetensors --accumulate exact\n"
    "  fp4proof gemm a.safetensors:x b.safetensors:w c.safetensors --profile mxfp4/rceil --correct mbs+resq\n"
    "C[m,n] = sum over k of A[m,k] * B[n,k]: both operands are matrices, blocked along their last axis k. A float\n"
    "tensor is quantized on the way in (rows of A draw from the random stream of activations, rows of B from that of\n"
    "weights); a tensor of a file of 'fp4proof quantize' is taken as it is.\n"
    "With --correct A gets the stack and B the same without its residual, unless --correct-b says otherwise; stored\n"
    "operands keep their own stacks. OUT holds C (F32). Accumulators: fp4proof list accumulators.";

Action add(CLI::App& command, Session& session) {
  auto options = std::make_shared<Options>();
  command.description("Multiply two quantized matrices.");
  command.footer(help);
  command.add_option("A", options->a, "FILE:TENSOR, a matrix M x K")->required()->type_name("FILE:TENSOR");
  command.add_option("B", options->b, "FILE:TENSOR, a matrix N x K")->required()->type_name("FILE:TENSOR");
  command.add_option("OUT", options->output, "File to write; it appears complete or not at all")
      ->required()
      ->type_name("FILE");
  command.add_option("--profile", options->profile, "A named profile or profile file, for float operands")
      ->type_name("P");
  command.add_option("--profile-b", options->profile_b, "Another profile for B")->type_name("P");
  add_correct_option(command, options->stack);
  command.add_option("--correct-b", options->stack_b, "Another stack for B (default: that of --correct, no residual)")
      ->type_name("STACK");
  add_product_option(command, options->product);
  command.add_option("--accumulate", options->accumulator, "How block products are added (default: seq512)")
      ->type_name("ACC");
  add_tail_option(command, options->tail);
  add_seed_option(command, options->seed);
  session.add_threads_option(command);
  return [options, &session] { return gemm(*options, session); };
}

}  // namespace

const Verb gemm_verb{"gemm", add};

}  // namespace fp4proof::cli
