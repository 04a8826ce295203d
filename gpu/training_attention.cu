#include "gpu/training_attention.h"

#include <cstdint>

#include "gpu/training_elements.h"
#include "gpu/training_launch.h"
#include "gpu/training_sums.h"

namespace fp4proof::gpu::training {

namespace {

/// dots[j] := finish(RS of RN(a[d] b[j stride + d]) over the head) for the keys 0 ... count - 1. Ends with the numbers
/// visible to the warp.
template <class Finish>
__device__ void dot_rows(const float* a, const float* b, std::int64_t stride, std::int64_t head_size,
                         std::int64_t count, int lane, float* dots, const Finish& finish) {
#pragma unroll 4
  for (std::int64_t j = 0; j < count; ++j) {
    const float* const row = b + j * stride;
    const float dot = row_sum(head_size, lane, [&](std::int64_t d) { return a[d] * row[d]; });
    if (lane == 0) dots[j] = finish(dot);
  }
  __syncwarp();
}

/// The largest of values[0 ... count - 1]. Where one of them is NaN any answer will do: all probabilities are NaN then.
__device__ float largest_of(const float* values, std::int64_t count, int lane) {
  float largest = values[0];
  for (std::int64_t j = lane; j < count; j += lanes) largest = values[j] > largest ? values[j] : largest;
#pragma unroll
  for (int width = lanes / 2; width > 0; width /= 2) {
    const float other = __shfl_xor_sync(all_lanes, largest, width);
    largest = other > largest ? other : largest;
  }
  return largest;
}

/// A warp has one query of one head; `shared` holds a number for each key that it sees.
struct Attention {
  fp4proof_attention_call call;
  float scale;

  __device__ void operator()(std::int64_t unit, int lane, float* shared) const {
    const std::int64_t query = unit % call.queries;
    const std::int64_t head = unit / call.queries % call.heads;
    const std::int64_t sequence = unit / call.queries / call.heads;
    const std::int64_t stride = call.heads * call.head_size;
    const std::int64_t keys = call.first_position + query + 1;
    const std::int64_t query_place = (sequence * call.queries + query) * stride + head * call.head_size;
    const std::int64_t key_place = sequence * call.capacity * stride + head * call.head_size;

    dot_rows(call.q + query_place, call.k + key_place, stride, call.head_size, keys, lane, shared,
             [&](float dot) { return dot * scale; });
    const float largest = largest_of(shared, keys, lane);
    __syncwarp();
    for (std::int64_t j = lane; j < keys; j += lanes) shared[j] = strict::exp(shared[j] - largest);
    __syncwarp();
    const float sum = sequential_sum(keys, [&](std::int64_t j) { return shared[j]; });
    __syncwarp();
    for (std::int64_t j = lane; j < keys; j += lanes) shared[j] = strict::divide(shared[j], sum);
    __syncwarp();
    if (call.probabilities != nullptr) {
      float* const probabilities = call.probabilities + unit * call.capacity;
      for (std::int64_t j = lane; j < call.capacity; j += lanes) probabilities[j] = j < keys ? shared[j] : 0.0F;
    }
    const float* const v = call.v + key_place;
    for (std::int64_t d = lane; d < call.head_size; d += lanes) {
      const float out = sequential_sum(keys, [&](std::int64_t j) { return shared[j] * v[j * stride + d]; });
      call.out[query_place + d] = strict::canonicalise_nan(out);
    }
    __syncwarp();
  }
};

/// Where the numbers of one head of one sequence stand in the backward pass.
struct HeadPlaces {
  std::int64_t stride;  ///< of a row of q, k, v
  std::int64_t rows;    ///< of the head's first number in them
  std::int64_t square;  ///< of the head's first probability

  __device__ HeadPlaces(const fp4proof_attention_backward_call& call, std::int64_t sequence_and_head)
      : stride(call.heads * call.head_size),
        rows(sequence_and_head / call.heads * call.queries * stride + sequence_and_head % call.heads * call.head_size),
        square(sequence_and_head * call.queries * call.queries) {}
};

/// A warp has one query of one head: the gradients of its scores, and dq.
struct QueryGradients {
  fp4proof_attention_backward_call call;
  float scale;
  float* d_scores;  ///< [sequences, heads, queries, queries], those of keys that are seen

  __device__ void operator()(std::int64_t unit, int lane, float* shared) const {
    const std::int64_t query = unit % call.queries;
    const std::int64_t keys = query + 1;
    const HeadPlaces head(call, unit / call.queries);
    const std::int64_t place = head.rows + query * head.stride;
    const float* const p = call.probabilities + head.square + query * call.queries;
    float* const ds = d_scores + head.square + query * call.queries;

    dot_rows(call.d_out + place, call.v + head.rows, head.stride, call.head_size, keys, lane, shared,
             [](float dot) { return dot; });
    const float t = sequential_sum(keys, [&](std::int64_t j) { return p[j] * shared[j]; });
    __syncwarp();
    for (std::int64_t j = lane; j < keys; j += lanes) {
      shared[j] = p[j] * (shared[j] - t) * scale;
      ds[j] = shared[j];
    }
    __syncwarp();
    const float* const k = call.k + head.rows;
    for (std::int64_t d = lane; d < call.head_size; d += lanes) {
      const float dq = sequential_sum(keys, [&](std::int64_t j) { return shared[j] * k[j * head.stride + d]; });
      call.dq[place + d] = strict::canonicalise_nan(dq);
    }
    __syncwarp();
  }
};

/// A warp has one key of one head: dk and dv side by side.
struct KeyGradients {
  fp4proof_attention_backward_call call;
  const float* d_scores;

  __device__ void operator()(std::int64_t unit, int lane, float* /*shared*/) const {
    const std::int64_t key = unit % call.queries;
    const HeadPlaces head(call, unit / call.queries);
    for (std::int64_t i = lane; i < 2 * call.head_size; i += lanes) {
      const bool is_dk = i < call.head_size;
      const std::int64_t d = is_dk ? i : i - call.head_size;
      const float* const factors = (is_dk ? d_scores : call.probabilities) + head.square + key * (call.queries + 1);
      const float* const rows = (is_dk ? call.q : call.d_out) + head.rows + key * head.stride + d;
      float* const gradient = is_dk ? call.dk : call.dv;
      const float sum = sequential_sum(call.queries - key, [&](std::int64_t later) {
        return factors[later * call.queries] * rows[later * head.stride];
      });
      gradient[head.rows + key * head.stride + d] = strict::canonicalise_nan(sum);
    }
  }
};

float scale_of(std::int64_t head_size) { return strict::rsqrt(static_cast<float>(head_size)); }

}  // namespace

Status attention(const fp4proof_attention_call& call, cudaStream_t stream) {
  const bool sound = call.sequences >= 0 && call.queries >= 0 && call.heads >= 0 && call.head_size >= 0 &&
                     call.first_position >= 0 && call.first_position + call.queries <= call.capacity;
  if (!sound) return Status::invalid;
  const std::int64_t units = call.sequences * call.heads * call.queries;
  if (units == 0 || call.head_size == 0) return Status::ok;
  if (call.q == nullptr || call.k == nullptr || call.v == nullptr || call.out == nullptr) return Status::invalid;
  return launch_warps(units, Attention{call, scale_of(call.head_size)}, stream, call.first_position + call.queries);
}

std::size_t attention_backward_workspace(const fp4proof_attention_backward_call& call) {
  if (call.sequences < 0 || call.queries < 0 || call.heads < 0) return 0;
  return static_cast<std::size_t>(call.sequences * call.heads * call.queries * call.queries) * sizeof(float);
}

Status attention_backward(const fp4proof_attention_backward_call& call, void* workspace, std::size_t workspace_bytes,
                          cudaStream_t stream) {
  if (call.sequences < 0 || call.queries < 0 || call.heads < 0 || call.head_size < 0) return Status::invalid;
  const std::int64_t units = call.sequences * call.heads * call.queries;
  if (units == 0 || call.head_size == 0) return Status::ok;
  for (const float* pointer :
       {call.q, call.k, call.v, call.probabilities, call.d_out, static_cast<const float*>(call.dq),
        static_cast<const float*>(call.dk), static_cast<const float*>(call.dv), static_cast<const float*>(workspace)}) {
    if (pointer == nullptr) return Status::invalid;
  }
  if (workspace_bytes < attention_backward_workspace(call)) return Status::small_workspace;
  auto* const d_scores = static_cast<float*>(workspace);
  const QueryGradients queries{call, scale_of(call.head_size), d_scores};
  if (const Status status = launch_warps(units, queries, stream, call.queries); status != Status::ok) return status;
  return launch_warps(units, KeyGradients{call, d_scores}, stream);
}

}  // namespace fp4proof::gpu::training
