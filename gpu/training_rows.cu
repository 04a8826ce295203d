#include "gpu/training_rows.h"

#include <cstdint>

#include "gpu/training_elements.h"
#include "gpu/training_launch.h"
#include "gpu/training_sums.h"

namespace fp4proof::gpu::training {

namespace {

template <class... Pointers>
bool all_given(const Pointers*... pointers) {
  return ((pointers != nullptr) && ...);
}

struct Embed {
  fp4proof_embed_call call;
  __device__ void operator()(std::int64_t row, std::int64_t column) const {
    const float token = call.token_table[call.tokens[row] * call.columns + column];
    const float position = call.position_table[call.positions[row] * call.columns + column];
    call.y[row * call.columns + column] = plus(token, position);
  }
};

/// A warp has 32 columns of one entry. It reads 32 indices at a time and queues the rows that match, so that the values
/// of many rows are on their way while they are added in order.
struct EmbedBackward {
  static constexpr int queue = 2 * lanes;

  fp4proof_embed_backward_call call;
  std::int64_t tiles;  ///< of 32 columns

  __device__ void operator()(std::int64_t unit, int lane, float* shared) const {
    auto* const rows = reinterpret_cast<std::uint32_t*>(shared);
    const std::int64_t entry = unit / tiles;
    const std::int64_t column = unit % tiles * lanes + lane;
    const bool has_column = column < call.columns;
    const float* const dy = call.dy + (has_column ? column : 0);
    float sum = 0.0F;
    int queued = 0;
    for (std::int64_t first = 0; first < call.rows; first += lanes) {
      const std::int64_t row = first + lane;
      const bool matches = row < call.rows && call.indices[row] == entry;
      const unsigned matching = __ballot_sync(all_lanes, matches);
      if (matching == 0) continue;
      if (matches) rows[queued + __popc(matching & ((1U << lane) - 1U))] = static_cast<std::uint32_t>(row);
      queued += __popc(matching);
      __syncwarp();
      if (queued < lanes) continue;
      add_rows(rows, lanes, dy, sum);
      queued -= lanes;
      const std::uint32_t rest = rows[lanes + lane];
      __syncwarp();
      rows[lane] = rest;
      __syncwarp();
    }
    add_rows(rows, queued, dy, sum);
    __syncwarp();
    if (has_column) call.table_gradient[entry * call.columns + column] = strict::canonicalise_nan(sum);
  }

  __device__ void add_rows(const std::uint32_t* rows, int count, const float* dy, float& sum) const {
#pragma unroll 16
    for (int i = 0; i < count; ++i) sum += dy[rows[i] * call.columns];
  }
};

struct RmsNorm {
  fp4proof_rms_norm_call call;
  __device__ void operator()(std::int64_t row, int lane, float* /*shared*/) const {
    const float* const x = call.x + row * call.columns;
    float* const y = call.y + row * call.columns;
    const float sum = row_sum(call.columns, lane, [&](std::int64_t c) { return x[c] * x[c]; });
    const float inverse = inverse_rms(sum, static_cast<float>(call.columns));
    if (lane == 0) call.inverse[row] = inverse;
    for (std::int64_t c = lane; c < call.columns; c += lanes) {
      y[c] = normalised(x[c], inverse, call.weight[c], call.gain != nullptr ? call.gain + c : nullptr);
    }
  }
};

__device__ float gained_at(const fp4proof_rms_norm_backward_call& call, std::int64_t row, std::int64_t column) {
  return gained(call.dy[row * call.columns + column], call.gain != nullptr ? call.gain + column : nullptr);
}

struct RmsNormBackward {
  fp4proof_rms_norm_backward_call call;
  __device__ void operator()(std::int64_t row, int lane, float* /*shared*/) const {
    const float* const x = call.x + row * call.columns;
    float* const dx = call.dx + row * call.columns;
    const float inverse = call.inverse[row];
    const auto h = [&](std::int64_t c) { return gained_at(call, row, c) * call.weight[c]; };
    const float sum = row_sum(call.columns, lane, [&](std::int64_t c) { return h(c) * x[c]; });
    const float correction = norm_correction(sum, inverse, static_cast<float>(call.columns));
    for (std::int64_t c = lane; c < call.columns; c += lanes) dx[c] = plus(h(c) * inverse, -(x[c] * correction));
  }
};

/// Columns that a block of threads sums. A warp holds one lane of T2 for 4 x 8 of them: reads of a row are sectors of
/// 32 bytes.
constexpr int sum_columns = 8;

/// T3 of the products d n: thread (lane, column) of a block is a lane of the column's sum.
__global__ void __launch_bounds__(lanes* sum_columns)
    sum_weight_gradient(const __grid_constant__ fp4proof_rms_norm_backward_call call) {
  __shared__ float parts[sum_columns][lanes + 1];
  const int lane = static_cast<int>(threadIdx.x) / sum_columns;
  const int mine = static_cast<int>(threadIdx.x) % sum_columns;
  const int fold_lane = static_cast<int>(threadIdx.x) % lanes;
  const int fold_column = static_cast<int>(threadIdx.x) / lanes;
  const std::int64_t tiles = ceil_div(call.columns, sum_columns);
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const std::int64_t column = tile * sum_columns + mine;
    float total = 0.0F;
    for (std::int64_t first = 0; first < call.rows; first += segment) {
      const std::int64_t end = first + segment < call.rows ? first + segment : call.rows;
      float sum = 0.0F;
      if (column < call.columns) {
#pragma unroll 8
        for (std::int64_t row = first + lane; row < end; row += lanes) {
          sum += gained_at(call, row, column) * (call.x[row * call.columns + column] * call.inverse[row]);
        }
      }
      __syncthreads();
      parts[mine][lane] = sum;
      __syncthreads();
      const float folded = fold_lanes(parts[fold_column][fold_lane]);
      total = first == 0 ? folded : total + folded;
    }
    const std::int64_t folded_column = tile * sum_columns + fold_column;
    if (fold_lane == 0 && folded_column < call.columns) {
      call.weight_gradient[folded_column] = strict::canonicalise_nan(total);
    }
  }
}

struct Add {
  fp4proof_add_call call;
  __device__ void operator()(std::int64_t i) const { call.y[i] = plus(call.a[i], call.b[i]); }
};

struct Swiglu {
  fp4proof_swiglu_call call;
  __device__ void operator()(std::int64_t i) const { call.y[i] = swiglu(call.gate[i], call.up[i]); }
};

struct SwigluBackward {
  fp4proof_swiglu_backward_call call;
  __device__ void operator()(std::int64_t i) const {
    const SwigluGradient gradient = swiglu_gradient(call.gate[i], call.up[i], call.dy[i]);
    call.d_gate[i] = gradient.gate;
    call.d_up[i] = gradient.up;
  }
};

struct CopyRows {
  fp4proof_copy_rows_call call;
  __device__ void operator()(std::int64_t row, std::int64_t column) const {
    call.to[row * call.to_stride + column] = call.from[row * call.from_stride + column];
  }
};

struct GatherRows {
  fp4proof_gather_rows_call call;
  __device__ void operator()(std::int64_t row, std::int64_t column) const {
    const std::int32_t index = call.indices[row];
    float& y = call.y[row * call.columns + column];
    if (index < 0) {
      y = 0.0F;
    } else {
      const float x = call.x[index * call.columns + column];
      y = call.weights != nullptr ? times(call.weights[row], x) : x;
    }
  }
};

}  // namespace

Status embed(const fp4proof_embed_call& call, cudaStream_t stream) {
  if (call.rows < 0 || call.columns < 0) return Status::invalid;
  if (call.rows == 0 || call.columns == 0) return Status::ok;
  if (!all_given(call.tokens, call.positions, call.token_table, call.position_table, call.y)) return Status::invalid;
  return launch_places(call.rows, call.columns, Embed{call}, stream);
}

Status embed_backward(const fp4proof_embed_backward_call& call, cudaStream_t stream) {
  constexpr std::int64_t most_rows = std::int64_t{1} << 32;
  if (call.rows < 0 || call.rows > most_rows || call.columns < 0 || call.entries < 0) return Status::invalid;
  if (call.entries == 0 || call.columns == 0) return Status::ok;
  if (!all_given(call.table_gradient) || (call.rows != 0 && !all_given(call.indices, call.dy))) return Status::invalid;
  const std::int64_t tiles = ceil_div(call.columns, lanes);
  return launch_warps(call.entries * tiles, EmbedBackward{call, tiles}, stream, EmbedBackward::queue);
}

Status rms_norm(const fp4proof_rms_norm_call& call, cudaStream_t stream) {
  if (call.rows < 0 || call.columns < 0) return Status::invalid;
  if (call.rows == 0 || call.columns == 0) return Status::ok;
  if (!all_given(call.x, call.weight, call.y, call.inverse)) return Status::invalid;
  return launch_warps(call.rows, RmsNorm{call}, stream);
}

Status rms_norm_backward(const fp4proof_rms_norm_backward_call& call, cudaStream_t stream) {
  if (call.rows < 0 || call.columns < 0) return Status::invalid;
  if (call.columns == 0) return Status::ok;
  if (!all_given(call.weight, call.weight_gradient)) return Status::invalid;
  if (call.rows != 0 && !all_given(call.x, call.inverse, call.dy, call.dx)) return Status::invalid;
  if (const Status status = launch_warps(call.rows, RmsNormBackward{call}, stream); status != Status::ok) return status;
  sum_weight_gradient<<<grid_for(call.columns, sum_columns), lanes * sum_columns, 0, stream>>>(call);
  return launch_status();
}

Status add(const fp4proof_add_call& call, cudaStream_t stream) {
  if (call.count > 0 && !all_given(call.a, call.b, call.y)) return Status::invalid;
  return launch_elements(call.count, Add{call}, stream);
}

Status swiglu(const fp4proof_swiglu_call& call, cudaStream_t stream) {
  if (call.count > 0 && !all_given(call.gate, call.up, call.y)) return Status::invalid;
  return launch_elements(call.count, Swiglu{call}, stream);
}

Status swiglu_backward(const fp4proof_swiglu_backward_call& call, cudaStream_t stream) {
  if (call.count > 0 && !all_given(call.gate, call.up, call.dy, call.d_gate, call.d_up)) return Status::invalid;
  return launch_elements(call.count, SwigluBackward{call}, stream);
}

Status copy_rows(const fp4proof_copy_rows_call& call, cudaStream_t stream) {
  if (call.rows < 0 || call.width < 0) return Status::invalid;
  if (call.rows == 0 || call.width == 0) return Status::ok;
  if (!all_given(call.from, call.to)) return Status::invalid;
  return launch_places(call.rows, call.width, CopyRows{call}, stream);
}

Status gather_rows(const fp4proof_gather_rows_call& call, cudaStream_t stream) {
  if (call.rows < 0 || call.columns < 0) return Status::invalid;
  if (call.rows == 0 || call.columns == 0) return Status::ok;
  if (!all_given(call.indices, call.x, call.y)) return Status::invalid;
  return launch_places(call.rows, call.columns, GatherRows{call}, stream);
}

}  // namespace fp4proof::gpu::training
