#include "formats/float_bits.h"
#include "formats/strict_math.h"
#include "gpu/checks.h"
#include "gpu/gemm_bf16.h"
#include "gpu/launch.h"

namespace fp4proof::gpu {

namespace {

constexpr int chunk_elements = 512;

constexpr int tile = 64;               ///< rows and columns of C that a block of threads computes
constexpr int threads = 256;           ///< 16 x 16
constexpr int lanes = 16;              ///< a thread has the rows and columns lane, lane + 16, ... of the tile
constexpr int per_thread = 4;          ///< rows of a thread, columns of a thread
constexpr int stage = 32;              ///< elements of k in shared memory at a time; divides a chunk
constexpr int unit = 8;                ///< elements that a thread fetches of each side
constexpr int row_floats = stage + 4;  ///< 16 bytes more, so that neighbouring rows begin in other banks
static_assert(tile * stage == threads * unit);

using Rows = float[tile][row_floats];

/// One matrix of a side, `lines` x k.
struct Lines {
  const std::uint16_t* words;
  std::int64_t lines;
  std::int64_t k;
  bool is_aligned;  ///< whether units lie at multiples of 16 bytes
};

__device__ Lines lines_of(const std::uint16_t* words, std::int64_t matrix, std::int64_t lines, std::int64_t k) {
  return {words + matrix * lines * k, lines, k, k % unit == 0 && reinterpret_cast<std::uintptr_t>(words) % 16 == 0};
}

__device__ int fetched_row() { return static_cast<int>(threadIdx.x) * unit / stage; }
__device__ int fetched_column() { return static_cast<int>(threadIdx.x) * unit % stage; }

/// The thread's unit of a stage, two words in each register; +0 where there is none.
__device__ uint4 fetch(const Lines& side, std::int64_t first_line, std::int64_t first_k) {
  const std::int64_t line = first_line + fetched_row();
  const std::int64_t k = first_k + fetched_column();
  if (line >= side.lines || k >= side.k) return {};
  const std::uint16_t* words = side.words + line * side.k + k;
  if (side.is_aligned) return *reinterpret_cast<const uint4*>(words);
  const std::int64_t left = side.k - k;
  const auto pair = [&](int i) {
    return (i < left ? std::uint32_t{words[i]} : 0U) | (i + 1 < left ? std::uint32_t{words[i + 1]} << 16 : 0U);
  };
  return {pair(0), pair(2), pair(4), pair(6)};
}

__device__ void place(const uint4& words, Rows& rows) {
  const auto low = [](std::uint32_t pair) { return float_from_bits(pair << 16); };
  const auto high = [](std::uint32_t pair) { return float_from_bits(pair & 0xFFFF0000U); };
  auto* to = reinterpret_cast<float4*>(&rows[fetched_row()][fetched_column()]);
  to[0] = {low(words.x), high(words.x), low(words.y), high(words.y)};
  to[1] = {low(words.z), high(words.z), low(words.w), high(words.w)};
}

/// sums = fma(a, b, sums) for `Width` elements of k from `k` on, in order.
template <int Width>
__device__ void add_products(const Rows& rows_a, const Rows& rows_b, int k, float (&sums)[per_thread][per_thread]) {
  struct alignas(4 * Width) Vector {
    float values[Width];
  };
  const int row = static_cast<int>(threadIdx.x) / lanes;
  const int column = static_cast<int>(threadIdx.x) % lanes;
  Vector a[per_thread];
  Vector b[per_thread];
#pragma unroll
  for (int i = 0; i < per_thread; ++i) {
    a[i] = *reinterpret_cast<const Vector*>(&rows_a[row + i * lanes][k]);
    b[i] = *reinterpret_cast<const Vector*>(&rows_b[column + i * lanes][k]);
  }
#pragma unroll
  for (int i = 0; i < per_thread; ++i) {
#pragma unroll
    for (int j = 0; j < per_thread; ++j) {
#pragma unroll
      for (int t = 0; t < Width; ++t) sums[i][j] = __fmaf_rn(a[i].values[t], b[j].values[t], sums[i][j]);
    }
  }
}

/// The same for `count` elements. A zero too many would turn a sum of -0 into +0.
__device__ void add_stage(const Rows& rows_a, const Rows& rows_b, int count, float (&sums)[per_thread][per_thread]) {
  int k = 0;
#pragma unroll 4
  for (; k + 4 <= count; k += 4) add_products<4>(rows_a, rows_b, k, sums);
  for (; k < count; ++k) add_products<1>(rows_a, rows_b, k, sums);
}

__device__ void multiply_tile(const GemmBf16Job& job, std::int64_t matrix, std::int64_t first_row,
                              std::int64_t first_column) {
  __shared__ __align__(16) Rows rows_a;
  __shared__ __align__(16) Rows rows_b;
  const Lines a = lines_of(job.a, matrix, job.m, job.k);
  const Lines b = lines_of(job.b, matrix, job.n, job.k);
  float sums[per_thread][per_thread] = {};
  float totals[per_thread][per_thread] = {};
  uint4 next_a = fetch(a, first_row, 0);
  uint4 next_b = fetch(b, first_column, 0);
  for (std::int64_t first_k = 0; first_k < job.k; first_k += stage) {
    __syncthreads();
    place(next_a, rows_a);
    place(next_b, rows_b);
    __syncthreads();
    next_a = fetch(a, first_row, first_k + stage);
    next_b = fetch(b, first_column, first_k + stage);
    const std::int64_t next_k = first_k + stage;
    add_stage(rows_a, rows_b, next_k <= job.k ? stage : static_cast<int>(job.k - first_k), sums);
    if (next_k % chunk_elements != 0 && next_k < job.k) continue;
    const bool is_first_chunk = first_k < chunk_elements;
#pragma unroll
    for (int i = 0; i < per_thread; ++i) {
#pragma unroll
      for (int j = 0; j < per_thread; ++j) {
        totals[i][j] = is_first_chunk ? sums[i][j] : totals[i][j] + sums[i][j];
        sums[i][j] = 0.0F;
      }
    }
  }
#pragma unroll
  for (int i = 0; i < per_thread; ++i) {
    const std::int64_t row = first_row + static_cast<int>(threadIdx.x) / lanes + i * lanes;
    if (row >= job.m) break;
#pragma unroll
    for (int j = 0; j < per_thread; ++j) {
      const std::int64_t column = first_column + static_cast<int>(threadIdx.x) % lanes + j * lanes;
      if (column >= job.n) break;
      job.c[(matrix * job.m + row) * job.n + column] = strict::canonicalise_nan(totals[i][j]);
    }
  }
}

__global__ void __launch_bounds__(threads, 2) multiply(const __grid_constant__ GemmBf16Job job) {
  const std::int64_t tiles_down = ceil_div(job.m, tile);
  const std::int64_t tiles_across = ceil_div(job.n, tile);
  for (std::int64_t index = blockIdx.x; index < job.batch * tiles_down * tiles_across; index += gridDim.x) {
    multiply_tile(job, index / tiles_across / tiles_down, index / tiles_across % tiles_down * tile,
                  index % tiles_across * tile);
  }
}

}  // namespace

Status gemm_bf16(const GemmBf16Job& job, cudaStream_t stream) {
  const auto& [batch, m, n, k, a, b, c] = job;
  if (!are_extents({batch, m, k}) || !are_extents({batch, n, k}) || !are_extents({batch, m, n})) return Status::invalid;
  const std::int64_t tiles = batch * ceil_div(m, tile) * ceil_div(n, tile);
  if (tiles == 0) return Status::ok;
  if (c == nullptr || (k != 0 && (a == nullptr || b == nullptr))) return Status::invalid;
  if (!is_aligned(a, 2) || !is_aligned(b, 2) || !is_aligned(c, 4)) return Status::invalid;
  multiply<<<grid_for(tiles, 1), threads, 0, stream>>>(job);
  return launch_status();
}

}  // namespace fp4proof::gpu
