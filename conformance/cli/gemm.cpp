// fp4proof gemm: the product of two quantized matrices.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "conformance/cli/common_options.h"
#include "conformance/cli/quantized_rows.h"
#include "conformance/cli/same_file.h"
#include "conformance/cli/tensor_source.h"
#include "conformance/cli/verbs.h"
#include "conformance/profiles/nearest_name.h"
#include "conformance/profiles/profile_lookup.h"
#include "conformance/vectors/os_error.h"
#include "reference/portable/gemm.h"

namespace fp4proof::cli {

namespace {

struct Options {
  std::string a;
  std::string b;
  std::string output;
  std::string profile;
  std::string profile_b;
  std::string accumulator = "seq512";
  std::string tail = "error";
  std::uint64_t seed = 0;
};

/// FILE:NAME.
struct OperandName {
  std::string file;
  std::string tensor;
};

struct Operand {
  SharedProfile profile;
  portable::Quantized matrix;
};

Result<OperandName> parse_operand(const std::string& text) {
  static constexpr std::string_view ending = ".safetensors:";
  const std::size_t at = text.find(ending);
  const std::size_t colon = at != std::string::npos ? at + ending.size() - 1 : text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) {
    return Error{ErrorKind::usage,
                 fmt::format("gemm: {} must be FILE:TENSOR, for example a.safetensors:weight", quote(text))};
  }
  return OperandName{text.substr(0, colon), text.substr(colon + 1)};
}

Error at_operand(const std::string& text, const Error& error) {
  return {error.kind, fmt::format("operand {}: {}", quote(text), error.message)};
}

/// An operand whose codes and scales are in the file. Its own profile counts.
Result<Operand> stored_operand(const SafetensorsFile& file, const QuantizedFile& description,
                               const TensorRecord& record, const std::string& profile, std::string_view label) {
  if (!profile.empty()) {
    const Result<SharedProfile> wanted = find_profile_or_file(profile);
    if (!wanted) return wanted.error();
    if ((*wanted)->name != description.profile->name) {
      return Error{ErrorKind::usage, fmt::format("it is quantized under {}, not under {}; leave the profile out, or "
                                                 "name that one",
                                                 description.profile->name, (*wanted)->name)};
    }
  }
  const Result<QuantizedRows> rows = QuantizedRows::open(description, record, file, label);
  if (!rows) return rows.error();
  return Operand{description.profile, rows->read_all()};
}

/// A float operand, quantized along its last axis.
Result<Operand> fresh_operand(const SafetensorsFile& file, const std::string& name, const std::string& profile,
                              portable::QuantizeOptions settings, std::string_view label, Session& session) {
  if (profile.empty()) {
    return Error{ErrorKind::usage, "it is no quantized tensor, so it needs a profile (--profile)"};
  }
  const Result<SharedProfile> chosen = find_profile_or_file(profile);
  if (!chosen) return chosen.error();
  const auto sources = float_tensors(file, label, {name}, session);
  if (!sources) return sources.error();
  auto quantized = portable::quantize(**chosen, sources->front().view(), settings);
  if (!quantized) return quantized.error();
  return Operand{*chosen, *std::move(quantized)};
}

Result<Operand> load_operand(const std::string& text, const std::string& profile, portable::QuantizeOptions settings,
                             Session& session) {
  const Result<OperandName> name = parse_operand(text);
  if (!name) return name.error();
  const std::string label = quote_path(name->file);
  const Result<SafetensorsFile> file = SafetensorsFile::open(name->file);
  if (!file) return file.error();
  Result<Operand> operand = Error{};
  bool stored = false;
  if (is_quantized_file(*file)) {
    const Result<QuantizedFile> description = read_quantized_file(*file, label);
    if (!description) return description.error();
    const Result<const TensorRecord*> record = record_named(*description, name->tensor, label);
    stored = record.ok();
    if (stored) operand = stored_operand(*file, *description, **record, profile, label);
  }
  if (!stored) operand = fresh_operand(*file, name->tensor, profile, settings, label, session);
  if (!operand) return at_operand(text, operand.error());
  if (operand->matrix.geometry.shape.size() != 2) {
    return at_operand(text, {ErrorKind::usage, fmt::format("it has shape [{}]; gemm takes matrices",
                                                           fmt::join(operand->matrix.geometry.shape, ", "))});
  }
  return operand;
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
    const Result<OperandName> name = parse_operand(*operand);
    if (!name) return name.error();
    if (const Result<void> apart = refuse_same_file(name->file, options.output); !apart) return apart.error();
  }
  for (const std::string* profile : {&options.profile, &options.profile_b}) {
    if (const Result<void> apart = refuse_same_file(*profile, options.output); !apart) return apart.error();
  }
  portable::QuantizeOptions settings;
  settings.tail = tail_of(options.tail);
  settings.seed = options.seed;
  const Result<Operand> a = load_operand(options.a, options.profile, settings, session);
  if (!a) return a.error();
  settings.stream = Stream::sr_weight;
  const std::string& profile_b = options.profile_b.empty() ? options.profile : options.profile_b;
  const Result<Operand> b = load_operand(options.b, profile_b, settings, session);
  if (!b) return b.error();
  const auto product = portable::gemm(*a->profile, a->matrix, *b->profile, b->matrix, *accumulator);
  if (!product) return product.error();
  const std::vector<std::uint64_t> shape = {static_cast<std::uint64_t>(a->matrix.geometry.rows),
                                            static_cast<std::uint64_t>(b->matrix.geometry.rows)};
  const std::vector<TensorData> tensors = {{{"C", TensorDtype::f32, shape}, bytes_of(*product)}};
  const SafetensorsMetadata metadata = product_metadata(*a->profile, *b->profile, options.accumulator);
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
    "C[m,n] = sum over k of A[m,k] * B[n,k]: both operands are matrices, blocked along their last axis k. A float\n"
    "tensor is quantized on the way in (rows of A draw from the random stream of activations, rows of B from that of\n"
    "weights); a tensor of a file of 'fp4proof quantize' is taken as it is. OUT holds C (F32). Accumulators:\n"
    "fp4proof list accumulators.";

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
