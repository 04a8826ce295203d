#include "gpu/training_weights.h"

#include <algorithm>
#include <cstdint>

#include "gpu/training_elements.h"
#include "gpu/training_launch.h"
#include "gpu/training_sums.h"

namespace fp4proof::gpu::training {

namespace {

__device__ double canonicalise_nan(double value) {
  constexpr std::uint64_t canonical = 0x7FF8000000000000U;
  return value != value ? bits_as<double>(canonical) : value;
}

/// A warp sums one segment.
struct SegmentSquares {
  fp4proof_sum_squares_call call;
  double* sums;
  __device__ void operator()(std::int64_t index, int lane, float* /*shared*/) const {
    const std::int64_t first = index * segment;
    const std::int64_t count = call.count - first < segment ? call.count - first : segment;
    const double sum = row_sum<double>(count, lane, [&](std::int64_t i) {
      const auto x = static_cast<double>(call.x[first + i]);
      return x * x;
    });
    if (lane == 0) sums[index] = sum;
  }
};

/// By one warp, since the order is part of the sum: lanes bring 32 numbers at a time, and all of them add. A sum of
/// squares is never -0, so +0 in front and behind adds nothing.
__global__ void __launch_bounds__(lanes) add_segments(const double* sums, std::int64_t count, double* total) {
  const std::int64_t lane = threadIdx.x;
  double sum = 0.0;
  double next = lane < count ? sums[lane] : 0.0;
  for (std::int64_t first = 0; first < count; first += lanes) {
    const double mine = next;
    const std::int64_t place = first + lanes + lane;
    next = place < count ? sums[place] : 0.0;
#pragma unroll
    for (int l = 0; l < lanes; ++l) sum += __shfl_sync(all_lanes, mine, l);
  }
  if (lane == 0) *total = canonicalise_nan(sum);
}

struct Adam {
  fp4proof_adam_call call;
  AdamRates rates;
  __device__ void operator()(std::int64_t i) const {
    const AdamState state{call.first_moment[i], call.second_moment[i], call.weight[i]};
    const AdamState next = adam_step(rates, state, call.gradient[i]);
    call.first_moment[i] = next.first_moment;
    call.second_moment[i] = next.second_moment;
    call.weight[i] = next.weight;
  }
};

struct AddNoise {
  fp4proof_add_noise_call call;
  __device__ void operator()(std::int64_t i) const {
    call.y[i] = noisy(call.weight[i], call.sigma, call.random.seed, static_cast<Stream>(call.random.stream),
                      call.random.step, call.random.first + static_cast<std::uint64_t>(i));
  }
};

/// Integers modulo 2^64: their sum has no order.
__global__ void __launch_bounds__(threads_per_block)
    add_digest_terms(const std::uint32_t* words, std::int64_t count, unsigned long long* digest) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  unsigned long long sum = 0;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    sum += digest_term(static_cast<std::uint64_t>(i), words[i]);
  }
  sum = fold_lanes(sum);
  if (threadIdx.x % lanes == 0) atomicAdd(digest, sum);
}

}  // namespace

std::size_t sum_squares_workspace(const fp4proof_sum_squares_call& call) {
  return call.count <= 0 ? 0 : static_cast<std::size_t>(ceil_div(call.count, segment)) * sizeof(double);
}

Status sum_squares(const fp4proof_sum_squares_call& call, void* workspace, std::size_t workspace_bytes,
                   cudaStream_t stream) {
  if (call.count < 0 || call.sum == nullptr) return Status::invalid;
  if (call.count > 0 && (call.x == nullptr || workspace == nullptr)) return Status::invalid;
  if (workspace_bytes < sum_squares_workspace(call)) return Status::small_workspace;
  const std::int64_t segments = ceil_div(call.count, segment);
  auto* const sums = static_cast<double*>(workspace);
  if (const Status status = launch_warps(segments, SegmentSquares{call, sums}, stream); status != Status::ok) {
    return status;
  }
  add_segments<<<1, lanes, 0, stream>>>(sums, segments, call.sum);
  return launch_status();
}

Status adam(const fp4proof_adam_call& call, cudaStream_t stream) {
  const bool complete = call.gradient != nullptr && call.first_moment != nullptr && call.second_moment != nullptr &&
                        call.weight != nullptr;
  if (call.count > 0 && !complete) return Status::invalid;
  const AdamRates rates{call.learning_rate, call.beta1,       call.beta2,         call.epsilon,
                        call.correction1,   call.correction2, call.gradient_scale};
  return launch_elements(call.count, Adam{call, rates}, stream);
}

Status add_noise(const fp4proof_add_noise_call& call, cudaStream_t stream) {
  if (!(call.sigma >= 0.0F) || !is_finite_bits(float_bits(call.sigma))) return Status::invalid;
  if (call.count > 0 && (call.weight == nullptr || call.y == nullptr)) return Status::invalid;
  return launch_elements(call.count, AddNoise{call}, stream);
}

Status digest(const fp4proof_digest_call& call, cudaStream_t stream) {
  constexpr unsigned most_blocks = 1024;
  if (call.count < 0 || call.digest == nullptr || (call.count > 0 && call.words == nullptr)) return Status::invalid;
  if (cudaMemsetAsync(call.digest, 0, sizeof(std::uint64_t), stream) != cudaSuccess) return Status::launch_failed;
  if (call.count == 0) return Status::ok;
  const unsigned blocks = std::min(grid_for(call.count, threads_per_block), most_blocks);
  auto* const total = reinterpret_cast<unsigned long long*>(call.digest);
  const auto* const words = static_cast<const std::uint32_t*>(call.words);
  add_digest_terms<<<blocks, threads_per_block, 0, stream>>>(words, call.count, total);
  return launch_status();
}

}  // namespace fp4proof::gpu::training
