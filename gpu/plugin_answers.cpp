#include "gpu/plugin_answers.h"

#include <string>
#include <utility>
#include <vector>

#include "gpu/correct.h"
#include "gpu/decompose.h"
#include "gpu/dequantize.h"
#include "gpu/gemm.h"
#include "gpu/plugin_memory.h"
#include "gpu/quantize.h"

namespace fp4proof::gpu::plugin {

namespace {

/// The product number that every case of a stack with fresh Hadamard signs has (docs/vectors.md).
constexpr std::uint32_t product_of_cases = 5;

/// The bytes of one case of a coded part.
struct PartSizes {
  CodedShape shape;  ///< of all cases
  std::int64_t codes = 0;
  std::int64_t scales = 0;
  std::int64_t macro = 0;
  std::int64_t tensor_scale = 0;
};

PartSizes part_sizes(const Profile& effective, const CorrectionStack& stack, const MatrixShape& shape) {
  const CodedShape coded = coded_shape(effective, shape);
  PartSizes sizes;
  sizes.shape = coded;
  sizes.codes = coded.lines * coded.code_bytes_per_line();
  sizes.scales = coded.scale_bytes_per_matrix();
  sizes.macro = coded.lines * macro_blocks(stack.macro, coded.padded_length());
  sizes.tensor_scale = effective.tensor_scale ? std::int64_t{sizeof(float)} : 0;
  return sizes;
}

/// The tensors that a call writes, in the order in which answers take their addresses.
class Outputs {
 public:
  Outputs(const fp4proof_call& call, std::int64_t cases) : call_(call), cases_(cases) {}

  Result<void> add(const std::string& name, std::int64_t element_bytes, std::int64_t case_bytes) {
    const Result<void*> data = find_output(call_, name, element_bytes, cases_ * case_bytes);
    if (!data) return data.error();
    tensors_.push_back({*data, case_bytes});
    return {};
  }

  Result<void> add_part(const std::string& prefix, const PartSizes& sizes) {
    if (const Result<void> added = add(prefix + "codes", 1, sizes.codes); !added) return added;
    if (const Result<void> added = add(prefix + "scales", 1, sizes.scales); !added) return added;
    if (sizes.tensor_scale != 0) {
      const Result<void> added = add(prefix + "tensor_scale", sizes.tensor_scale, sizes.tensor_scale);
      if (!added) return added;
    }
    return sizes.macro == 0 ? Result<void>() : add(prefix + "macro", 1, sizes.macro);
  }

  std::span<const OutputTensor> tensors() const { return tensors_; }

 private:
  const fp4proof_call& call_;
  std::int64_t cases_;
  std::vector<OutputTensor> tensors_;
};

/// Addresses in the order of Outputs.
class Addresses {
 public:
  explicit Addresses(std::span<void* const> addresses) : next_(addresses.begin()) {}

  template <class T>
  T* take() {
    return static_cast<T*>(*next_++);
  }

  CodedPart take_part(const PartSizes& sizes) {
    CodedPart part;
    part.coded.codes = take<std::uint8_t>();
    part.coded.scales = take<std::uint8_t>();
    if (sizes.tensor_scale != 0) part.coded.tensor_scales = take<float>();
    if (sizes.macro != 0) part.macro = take<std::uint8_t>();
    return part;
  }

 private:
  std::span<void* const>::iterator next_;
};

Result<ConstCodedPart> read_part(const fp4proof_call& call, const std::string& prefix, const PartSizes& sizes) {
  const auto read = [&](const char* name, std::int64_t element_bytes, std::int64_t case_bytes) -> Result<const void*> {
    if (case_bytes == 0) return static_cast<const void*>(nullptr);
    return find_input(call, prefix + name, element_bytes, call.cases * case_bytes);
  };
  const Result<const void*> codes = read("codes", 1, sizes.codes);
  if (!codes) return codes.error();
  const Result<const void*> scales = read("scales", 1, sizes.scales);
  if (!scales) return scales.error();
  const Result<const void*> tensor_scales = read("tensor_scale", sizes.tensor_scale, sizes.tensor_scale);
  if (!tensor_scales) return tensor_scales.error();
  const Result<const void*> macro = read("macro", 1, sizes.macro);
  if (!macro) return macro.error();
  return ConstCodedPart(ConstCoded(static_cast<const std::uint8_t*>(*codes), static_cast<const std::uint8_t*>(*scales),
                                   static_cast<const float*>(*tensor_scales)),
                        static_cast<const std::uint8_t*>(*macro));
}

Result<InputWords> read_words(const fp4proof_call& call, const MatrixShape& shape, const char* name) {
  constexpr std::int64_t word_bytes = sizeof(std::uint32_t);
  const Result<const void*> words = find_input(call, name, word_bytes, shape.elements() * word_bytes);
  if (!words) return words.error();
  return InputWords{static_cast<const std::uint32_t*>(*words), shape.batch, shape.rows * shape.columns};
}

Result<RandomSource> read_random(const fp4proof_call& call, const Profile& effective, const MatrixShape& shape) {
  RandomSource source;
  if (effective.rounding != Rounding::stochastic) return source;
  const Result<InputWords> words = read_words(call, shape, "random");
  if (!words) return words.error();
  source.words = words->words;
  return source;
}

/// What every answer needs.
struct Context {
  const fp4proof_call& call;
  const Request& request;
  InputMode mode;
  Scratch& scratch;
  FormatCounts& counts;
};

/// Answers a call that reads `input`, and `random` under stochastic rounding.
template <class Launch>
Result<void> answer_inputs(const Context& context, const Outputs& outputs, const Launch& launch) {
  const MatrixShape& shape = context.request.shape;
  const Result<InputWords> input = read_words(context.call, shape, "input");
  if (!input) return input.error();
  const Result<RandomSource> random = read_random(context.call, context.request.effective(), shape);
  if (!random) return random.error();
  const auto answer_in = [&](DType dtype, const void* data, std::span<void* const> addresses) {
    return launch(dtype, data, *random, Addresses(addresses));
  };
  return answer_by_format(context.mode, *input, outputs.tensors(), answer_in, context.scratch, context.counts);
}

Result<void> answer_quantize(const Context& context) {
  const Request& request = context.request;
  const PartSizes sizes = part_sizes(request.profile, request.stack, request.shape);
  Outputs outputs(context.call, request.shape.batch);
  if (const Result<void> added = outputs.add_part("", sizes); !added) return added;
  const auto launch = [&](DType dtype, const void* input, const RandomSource& random, Addresses addresses) {
    QuantizeJob job;
    job.profile = request.profile;
    job.dtype = dtype;
    job.shape = request.shape;
    job.input = input;
    job.random = random;
    const std::size_t bytes = quantize_workspace(job);
    const Result<void*> workspace = context.scratch.take(bytes);
    if (!workspace) return Result<void>(workspace.error());
    const Coded coded = addresses.take_part(sizes).coded;
    return check_launch(quantize(job, coded, *workspace, bytes, context.scratch.stream()), "quantize");
  };
  return answer_inputs(context, outputs, launch);
}

Result<void> answer_dequantize(const Context& context) {
  const Request& request = context.request;
  const PartSizes sizes = part_sizes(request.profile, request.stack, request.shape);
  const Result<ConstCodedPart> part = read_part(context.call, "", sizes);
  if (!part) return part.error();
  constexpr std::int64_t value_bytes = sizeof(float);
  const Result<void*> values = find_output(context.call, "values", value_bytes, request.shape.elements() * value_bytes);
  if (!values) return values.error();
  DequantizeJob job;
  job.profile = request.profile;
  job.shape = sizes.shape;
  job.coded = part->coded;
  job.values = *values;
  return check_launch(dequantize(job, context.scratch.stream()), "dequantize");
}

Result<void> answer_correct(const Context& context) {
  const Request& request = context.request;
  const PartSizes sizes = part_sizes(request.effective(), request.stack, request.shape);
  const bool has_residual = request.stack.residual.is_on();
  constexpr std::int64_t value_bytes = sizeof(float);
  Outputs outputs(context.call, request.shape.batch);
  if (const Result<void> added = outputs.add_part("", sizes); !added) return added;
  if (has_residual) {
    if (const Result<void> added = outputs.add_part("residual_", sizes); !added) return added;
  }
  const Result<void> added =
      outputs.add("values", value_bytes, request.shape.rows * request.shape.columns * value_bytes);
  if (!added) return added;
  const auto launch = [&](DType dtype, const void* input, const RandomSource& random, Addresses addresses) {
    CorrectJob job;
    job.profile = request.profile;
    job.stack = request.stack;
    job.dtype = dtype;
    job.shape = request.shape;
    job.input = input;
    job.random = random;
    job.product = product_of_cases;
    const std::size_t bytes = correct_workspace(job);
    const Result<void*> workspace = context.scratch.take(bytes);
    if (!workspace) return Result<void>(workspace.error());
    Corrected corrected;
    corrected.first = addresses.take_part(sizes);
    if (has_residual) corrected.residual = addresses.take_part(sizes);
    corrected.values = addresses.take<float>();
    return check_launch(correct(job, corrected, *workspace, bytes, context.scratch.stream()), "correct");
  };
  return answer_inputs(context, outputs, launch);
}

Result<GemmOperand> read_operand(const Context& context, const std::string& prefix, std::int64_t lines,
                                 const CorrectionStack& stack) {
  const Request& request = context.request;
  GemmOperand operand;
  operand.profile = stack.effective(request.profile);
  operand.lines = lines;
  const PartSizes sizes =
      part_sizes(operand.profile, stack, MatrixShape{request.shape.batch, lines, request.shape.columns, 1});
  const Result<ConstCodedPart> first = read_part(context.call, prefix, sizes);
  if (!first) return first.error();
  operand.first = *first;
  if (!stack.residual.is_on()) return operand;
  const Result<ConstCodedPart> residual = read_part(context.call, prefix + "residual_", sizes);
  if (!residual) return residual.error();
  operand.residual = *residual;
  return operand;
}

Result<void> answer_product(const Context& context) {
  const Request& request = context.request;
  const MatrixShape& shape = request.shape;
  const Result<GemmOperand> a = read_operand(context, "a_", shape.rows, request.stack);
  if (!a) return a.error();
  const Result<GemmOperand> b = read_operand(context, "b_", request.other_rows, request.stack.without_residual());
  if (!b) return b.error();
  constexpr std::int64_t value_bytes = sizeof(float);
  const Result<void*> c =
      find_output(context.call, "c", value_bytes, shape.batch * shape.rows * request.other_rows * value_bytes);
  if (!c) return c.error();
  GemmJob job;
  job.batch = shape.batch;
  job.k = shape.columns;
  job.a = *a;
  job.b = *b;
  job.stack = request.stack;
  job.accumulator = request.accumulator;
  job.c = static_cast<float*>(*c);
  const std::size_t bytes = gemm_workspace(job);
  const Result<void*> workspace = context.scratch.take(bytes);
  if (!workspace) return workspace.error();
  return check_launch(gemm(job, *workspace, bytes, context.scratch.stream()), "gemm");
}

Result<void> answer_decompose(const Context& context) {
  const Request& request = context.request;
  const MatrixShape& shape = request.shape;
  constexpr std::int64_t word_bytes = sizeof(std::uint32_t);
  constexpr std::int64_t term_bytes = 3 * sizeof(double);
  constexpr std::int64_t sum_bytes = 8 * sizeof(double);
  constexpr std::int64_t count_bytes = 4 * sizeof(std::uint32_t);
  Outputs outputs(context.call, shape.batch);
  for (const auto& [name, bytes] :
       {std::pair{"terms", shape.rows * shape.columns * term_bytes}, std::pair{"sums", shape.lines() * sum_bytes},
        std::pair{"counts", shape.lines() * count_bytes}}) {
    if (const Result<void> added = outputs.add(name, word_bytes, bytes); !added) return added;
  }
  const auto launch = [&](DType dtype, const void* input, const RandomSource& random, Addresses addresses) {
    DecomposeJob job;
    job.profile = request.profile;
    job.dtype = dtype;
    job.shape = shape;
    job.input = input;
    job.random = random;
    const std::size_t bytes = decompose_workspace(job);
    const Result<void*> workspace = context.scratch.take(bytes);
    if (!workspace) return Result<void>(workspace.error());
    DecomposeOutput output;
    output.terms = addresses.take<double>();
    output.sums = addresses.take<double>();
    output.counts = addresses.take<std::uint32_t>();
    return check_launch(decompose(job, output, *workspace, bytes, context.scratch.stream()), "decompose");
  };
  return answer_inputs(context, outputs, launch);
}

Result<void> launch_answer(const Context& context) {
  switch (context.request.operation) {
    case Operation::quantize: return answer_quantize(context);
    case Operation::dequantize: return answer_dequantize(context);
    case Operation::gemm:
    case Operation::correct_gemm: return answer_product(context);
    case Operation::correct: return answer_correct(context);
    case Operation::decompose: return answer_decompose(context);
  }
  return Error{ErrorKind::internal, "unknown operation"};
}

}  // namespace

Result<void> answer(const fp4proof_call& call, const Request& request, InputMode mode, cudaStream_t stream,
                    FormatCounts& counts) {
  Scratch scratch(stream);
  const Result<void> launched = launch_answer({call, request, mode, scratch, counts});
  const Result<void> finished = check_cuda(cudaStreamSynchronize(stream), call.operation);
  return launched ? finished : launched;
}

}  // namespace fp4proof::gpu::plugin
