#include "gpu/training_tokens.h"

#include <cstdint>

#include "gpu/training_elements.h"
#include "gpu/training_launch.h"
#include "gpu/training_sums.h"

namespace fp4proof::gpu::training {

namespace {

struct Largest {
  float value;
  std::int64_t index;
};

/// The largest number and its lowest index. A NaN is never the largest; -infinity at index 0 where nothing is larger.
__device__ Largest find_largest(const float* values, std::int64_t count, int lane) {
  Largest best{-float_from_bits(float_infinity_bits), 0};
  for (std::int64_t i = lane; i < count; i += lanes) {
    if (values[i] > best.value) best = {values[i], i};
  }
#pragma unroll
  for (int width = lanes / 2; width > 0; width /= 2) {
    const Largest other{__shfl_xor_sync(all_lanes, best.value, width), __shfl_xor_sync(all_lanes, best.index, width)};
    if (other.value > best.value || (other.value == best.value && other.index < best.index)) best = other;
  }
  return best;
}

/// The softmax of one row, with m and S of T41 at hand.
struct Softmax {
  const float* logits;
  std::int64_t count;
  Largest largest;
  float sum = 0.0F;

  __device__ Softmax(const float* row, std::int64_t vocabulary, int lane)
      : logits(row), count(vocabulary), largest(find_largest(row, vocabulary, lane)) {}

  __device__ void find_sum(int lane) {
    sum = row_sum(count, lane, [&](std::int64_t v) { return exponential(v); });
  }
  __device__ float shifted(std::int64_t v) const { return logits[v] - largest.value; }
  __device__ float exponential(std::int64_t v) const { return strict::exp(shifted(v)); }
  __device__ float probability(std::int64_t v) const { return strict::divide(exponential(v), sum); }
};

struct LogSoftmax {
  fp4proof_log_softmax_call call;
  __device__ void operator()(std::int64_t row, int lane, float* /*shared*/) const {
    Softmax softmax(call.logits + row * call.vocabulary, call.vocabulary, lane);
    if (call.largest != nullptr && lane == 0) call.largest[row] = static_cast<std::int32_t>(softmax.largest.index);
    if (call.log_probability == nullptr && call.entropy == nullptr) return;
    softmax.find_sum(lane);
    const float lse = strict::log(softmax.sum);
    if (call.log_probability != nullptr && lane == 0) {
      call.log_probability[row] = plus(softmax.shifted(call.targets[row]), -lse);
    }
    if (call.entropy == nullptr) return;
    const float mean =
        row_sum(call.vocabulary, lane, [&](std::int64_t v) { return softmax.probability(v) * softmax.shifted(v); });
    if (lane == 0) call.entropy[row] = plus(lse, -mean);
  }
};

/// The sums c_v of T42, 32 at a time: lane l gets the one after element first + l.
struct RunningSum {
  float before = 0.0F;  ///< c of the element before `first`

  __device__ float advance(float mine) {
    float after = 0.0F;
#pragma unroll
    for (int l = 0; l < lanes; ++l) {
      before += __shfl_sync(all_lanes, mine, l);
      if (l == static_cast<int>(threadIdx.x) % lanes) after = before;
    }
    return after;
  }
};

struct Sample {
  fp4proof_sample_call call;
  __device__ void operator()(std::int64_t row, int lane, float* /*shared*/) const {
    const Softmax softmax(call.logits + row * call.vocabulary, call.vocabulary, lane);
    // +0 behind the last element, which leaves a sum of numbers that are not negative as it is.
    const auto exponential = [&](std::int64_t v) { return v < call.vocabulary ? softmax.exponential(v) : 0.0F; };
    RunningSum whole;
    std::int64_t last_positive = 0;
    for (std::int64_t first = 0; first < call.vocabulary; first += lanes) {
      const float mine = exponential(first + lane);
      whole.advance(mine);
      const unsigned positive = __ballot_sync(all_lanes, mine > 0.0F);
      if (positive != 0) last_positive = first + lanes - 1 - __clz(static_cast<int>(positive));
    }
    const float uniform = random_uniform(call.random.seed, static_cast<Stream>(call.random.stream), call.random.step,
                                         call.random.first + static_cast<std::uint64_t>(row));
    const float threshold = uniform * whole.before;
    std::int64_t token = last_positive;
    RunningSum part;
    for (std::int64_t first = 0; first < call.vocabulary; first += lanes) {
      const float after = part.advance(exponential(first + lane));
      const unsigned beyond = __ballot_sync(all_lanes, first + lane < call.vocabulary && after > threshold);
      if (beyond == 0) continue;
      token = first + __ffs(static_cast<int>(beyond)) - 1;
      break;
    }
    if (lane == 0) call.tokens[row] = static_cast<std::int32_t>(token);
  }
};

struct LogSoftmaxBackward {
  fp4proof_log_softmax_backward_call call;
  __device__ void operator()(std::int64_t row, int lane, float* /*shared*/) const {
    const float weight = call.weights[row];
    float* const gradient = call.d_logits + row * call.vocabulary;
    if (weight == 0.0F) {
      for (std::int64_t v = lane; v < call.vocabulary; v += lanes) gradient[v] = 0.0F;
      return;
    }
    Softmax softmax(call.logits + row * call.vocabulary, call.vocabulary, lane);
    softmax.find_sum(lane);
    const std::int32_t target = call.targets[row];
    for (std::int64_t v = lane; v < call.vocabulary; v += lanes) {
      gradient[v] = logit_gradient(softmax.probability(v), v == target, weight);
    }
  }
};

}  // namespace

Status log_softmax(const fp4proof_log_softmax_call& call, cudaStream_t stream) {
  if (call.rows < 0 || call.vocabulary < 0) return Status::invalid;
  if (call.rows == 0) return Status::ok;
  if (call.vocabulary == 0 || call.logits == nullptr) return Status::invalid;
  if (call.log_probability != nullptr && call.targets == nullptr) return Status::invalid;
  return launch_warps(call.rows, LogSoftmax{call}, stream);
}

Status sample(const fp4proof_sample_call& call, cudaStream_t stream) {
  if (call.rows < 0 || call.vocabulary < 0) return Status::invalid;
  if (call.rows == 0) return Status::ok;
  if (call.vocabulary == 0 || call.logits == nullptr || call.tokens == nullptr) return Status::invalid;
  return launch_warps(call.rows, Sample{call}, stream);
}

Status log_softmax_backward(const fp4proof_log_softmax_backward_call& call, cudaStream_t stream) {
  if (call.rows < 0 || call.vocabulary < 0) return Status::invalid;
  if (call.rows == 0) return Status::ok;
  const bool complete =
      call.logits != nullptr && call.targets != nullptr && call.weights != nullptr && call.d_logits != nullptr;
  if (call.vocabulary == 0 || !complete) return Status::invalid;
  return launch_warps(call.rows, LogSoftmaxBackward{call}, stream);
}

}  // namespace fp4proof::gpu::training
