#include "gpu/checks.h"
#include "gpu/training_products.h"

#include <string>

#include "formats/correction_rules.h"
#include "formats/spec_profiles.h"
#include "gpu/gemm_bf16.h"
#include "gpu/training_elements.h"
#include "gpu/training_launch.h"

namespace fp4proof::gpu::training {

namespace {

struct Coding {
  Profile profile;  ///< packed as docs/vectors.md says, whatever the named one does
  CorrectionStack stack;
};

Error unsupported(std::string message) { return {ErrorKind::unsupported, std::move(message)}; }

Result<Coding> find_coding(const char* profile, const char* stack) {
  if (profile == nullptr || stack == nullptr) return Error{ErrorKind::usage, "a profile or stack without a name"};
  const Profile* const named_profile = find_profile(profile);
  if (named_profile == nullptr) return unsupported(std::string("'") + profile + "' is no named profile");
  const CorrectionStack* const named_stack = find_correction_stack(stack);
  if (named_stack == nullptr) return unsupported(std::string("'") + stack + "' is no named stack of corrections");
  Coding coding{*named_profile, *named_stack};
  coding.profile.nibble_order = NibbleOrder::even_low;
  coding.profile.scale_layout = ScaleLayout::row_major;
  coding.profile.micro_order = MicroOrder::lsb_first;
  return coding;
}

CodedPart part_of(const fp4proof_part& part) { return {{part.codes, part.scales, part.tensor_scale}, part.macro}; }

Result<GemmOperand> read_operand(const fp4proof_operand& operand, CorrectionStack& stack) {
  const Result<Coding> coding = find_coding(operand.profile, operand.stack);
  if (!coding) return coding.error();
  stack = coding->stack;
  GemmOperand result;
  result.profile = stack.effective(coding->profile);
  result.lines = operand.lines;
  result.first = part_of(operand.first);
  result.residual = part_of(operand.residual);
  return result;
}

bool draws_words(const QuantizeTask& task) {
  return task.first_word != 0 && task.job.stack.effective(task.job.profile).rounding == Rounding::stochastic;
}

std::size_t word_bytes(const QuantizeTask& task) {
  constexpr std::size_t alignment = 256;
  if (!draws_words(task) || !is_sound(task.job.shape)) return 0;
  const auto bytes = static_cast<std::size_t>(task.job.shape.elements()) * sizeof(std::uint32_t);
  return (bytes + alignment - 1) / alignment * alignment;
}

/// words[i] := the Philox word of element first + i.
struct DrawWords {
  RandomSource random;
  std::uint64_t first;
  std::uint32_t* words;
  __device__ void operator()(std::int64_t i) const {
    words[i] = random_word(random.seed, random.stream, random.step, first + static_cast<std::uint64_t>(i));
  }
};

struct ToBf16 {
  fp4proof_to_bf16_call call;
  __device__ void operator()(std::int64_t i) const { call.y[i] = bf16_word(call.x[i]); }
};

constexpr int tile = 32;
constexpr int tile_rows = 8;  ///< that a block of threads moves at a time

/// Through shared memory, so that reads and writes run along rows.
__global__ void __launch_bounds__(tile* tile_rows) transpose_bf16(const __grid_constant__ fp4proof_to_bf16_call call) {
  __shared__ std::uint16_t words[tile][tile + 2];
  const int across = static_cast<int>(threadIdx.x) % tile;
  const int down = static_cast<int>(threadIdx.x) / tile;
  const std::int64_t tiles_across = ceil_div(call.columns, tile);
  const std::int64_t tiles = ceil_div(call.rows, tile) * tiles_across;
  for (std::int64_t index = blockIdx.x; index < tiles; index += gridDim.x) {
    const std::int64_t first_row = index / tiles_across * tile;
    const std::int64_t first_column = index % tiles_across * tile;
    __syncthreads();
    for (int i = down; i < tile; i += tile_rows) {
      const std::int64_t row = first_row + i;
      const std::int64_t column = first_column + across;
      if (row < call.rows && column < call.columns) words[i][across] = bf16_word(call.x[row * call.columns + column]);
    }
    __syncthreads();
    for (int i = down; i < tile; i += tile_rows) {
      const std::int64_t row = first_row + across;
      const std::int64_t column = first_column + i;
      if (row < call.rows && column < call.columns) call.y[column * call.rows + row] = words[across][i];
    }
  }
}

}  // namespace

Result<QuantizeTask> read_quantize(const fp4proof_quantize_call& call) {
  Result<Coding> coding = find_coding(call.profile, call.stack);
  if (!coding) return coding.error();
  if (call.stochastic != 0) coding->stack.stochastic = true;
  if (const char* refusal = stack_refusal(coding->profile, coding->stack)) return unsupported(refusal);
  if (call.rows < 0 || call.columns < 0) return Error{ErrorKind::usage, "an extent is negative"};
  QuantizeTask task;
  task.job.profile = coding->profile;
  task.job.stack = coding->stack;
  task.job.dtype = DType::f32;
  task.job.shape = {1, call.rows, call.columns, call.axis};
  task.job.input = call.x;
  task.job.random = {call.random.seed, static_cast<Stream>(call.random.stream), call.random.step, nullptr};
  task.job.product = call.product;
  task.output = {part_of(call.first), part_of(call.residual), call.values};
  task.first_word = call.random.first;
  return task;
}

Result<GemmJob> read_multiply(const fp4proof_multiply_call& call) {
  GemmJob job;
  CorrectionStack stack_b;
  const Result<GemmOperand> a = read_operand(call.a, job.stack);
  if (!a) return a.error();
  const Result<GemmOperand> b = read_operand(call.b, stack_b);
  if (!b) return b.error();
  job.k = call.k;
  job.a = *a;
  job.b = *b;
  job.stack_b = stack_b;
  job.c = call.c;
  return job;
}

std::size_t quantize_workspace(const QuantizeTask& task) { return word_bytes(task) + correct_workspace(task.job); }

Status quantize(const QuantizeTask& task, void* workspace, std::size_t workspace_bytes, cudaStream_t stream) {
  const std::size_t words_end = word_bytes(task);
  if (workspace_bytes < quantize_workspace(task)) return Status::small_workspace;
  if (words_end == 0) return correct(task.job, task.output, workspace, workspace_bytes, stream);
  CorrectJob job = task.job;
  auto* const words = static_cast<std::uint32_t*>(workspace);
  const Status drawn = launch_elements(job.shape.elements(), DrawWords{job.random, task.first_word, words}, stream);
  if (drawn != Status::ok) return drawn;
  job.random.words = words;
  return correct(job, task.output, static_cast<std::uint8_t*>(workspace) + words_end, workspace_bytes - words_end,
                 stream);
}

Status to_bf16(const fp4proof_to_bf16_call& call, cudaStream_t stream) {
  if (call.rows < 0 || call.columns < 0) return Status::invalid;
  if (call.rows == 0 || call.columns == 0) return Status::ok;
  if (call.x == nullptr || call.y == nullptr) return Status::invalid;
  if (call.transpose == 0) return launch_elements(call.rows * call.columns, ToBf16{call}, stream);
  const std::int64_t tiles = ceil_div(call.rows, tile) * ceil_div(call.columns, tile);
  transpose_bf16<<<grid_for(tiles, 1), tile * tile_rows, 0, stream>>>(call);
  return launch_status();
}

Status multiply_bf16(const fp4proof_multiply_bf16_call& call, cudaStream_t stream) {
  return gemm_bf16({1, call.m, call.n, call.k, call.a, call.b, call.c}, stream);
}

}  // namespace fp4proof::gpu::training
