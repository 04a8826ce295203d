#include "gpu/gemm_general.h"

#include <algorithm>
#include <type_traits>

#include "formats/macro_block.h"
#include "formats/scale_codes.h"
#include "formats/strict_math.h"
#include "gpu/gemm_dots.h"
#include "gpu/launch.h"

namespace fp4proof::gpu {

namespace {

constexpr int chunk_elements = 512;

constexpr int hif4_block = 64;

constexpr int tile = 64;       ///< rows and columns of C that a block of threads computes
constexpr int threads = 256;   ///< 16 x 16
constexpr int lanes = 16;      ///< a thread has the rows and columns lane, lane + 16, ... of the tile
constexpr int per_thread = 4;  ///< rows of a thread, columns of a thread
constexpr int stage = 64;      ///< elements of K in shared memory at a time
constexpr int units_of_row = stage / unit;
constexpr int units_of_thread = tile * units_of_row / threads;  ///< of each side
static_assert(lanes * per_thread == tile && lanes * lanes == threads && product_tile % tile == 0);

template <class Dots>
constexpr bool has_wide_elements = !std::is_same_v<typename Dots::Narrow, Dots>;

template <class Dots, int Length>
struct SharedSide {
  using Value = typename Dots::Value;
  /// 16 bytes more a row, so that neighbouring rows begin in other banks.
  alignas(16) Value values[tile][stage + 16 / sizeof(Value)];
  alignas(16) Value table[256];  ///< by code
  typename Dots::Scale scales[tile][stage / Length];
};

template <class Dots, int Length>
struct Shared {
  SharedSide<Dots, Length> a;
  SharedSide<Dots, Length> b;
};

/// What a thread has fetched of the next stage.
template <int Length>
struct Fetched {
  static constexpr int scales_of_row = stage / Length;
  static constexpr int scales_of_side = tile * scales_of_row;
  static constexpr int scales_of_thread = (scales_of_side + threads - 1) / threads;
  CodeUnit units[2][units_of_thread];
  std::uint32_t scales[2][scales_of_thread];
};

struct TilePlace {
  std::int64_t matrix;
  std::int64_t first_row;
  std::int64_t first_column;
};

__device__ bool has_nibbles(const ProductSide& side) { return element_spec(side.element).is_nibble(); }

/// The scale of a block without tensor scale: NaN under a NaN code.
__device__ float decode_scale(Family family, std::uint32_t word) {
  const auto code = static_cast<std::uint8_t>(word);
  switch (family) {
    case Family::mx: return decode_e8m0(code);
    case Family::hif4: return decode_e6m2(code);
    case Family::nvfp4: return decode_e4m3_scale(code);
  }
  return canonical_nan();
}

/// Eight codes from element `k` of a line on; +0 behind the end of the line and in lines that do not exist.
__device__ CodeUnit fetch_codes(std::int64_t length, const ProductSide& side, std::int64_t padded_length,
                                std::int64_t matrix, std::int64_t line, std::int64_t k) {
  CodeUnit codes;
  if (line >= side.lines || k >= length) return codes;
  const std::int64_t place = (matrix * side.lines + line) * padded_length + k;
  const std::int64_t left = length - k;
  if (has_nibbles(side)) {
    codes.low = *reinterpret_cast<const std::uint32_t*>(side.coded.codes + place / 2);
    if (left < unit) codes.low &= (1U << (4 * left)) - 1U;
  } else {
    const auto both = *reinterpret_cast<const uint2*>(side.coded.codes + place);
    const std::uint64_t all = std::uint64_t{both.x} | std::uint64_t{both.y} << 32;
    const std::uint64_t kept = left < unit ? all & ((std::uint64_t{1} << (8 * left)) - 1U) : all;
    codes.low = static_cast<std::uint32_t>(kept);
    codes.high = static_cast<std::uint32_t>(kept >> 32);
  }
  if (side.family == Family::hif4) {
    codes.levels = reinterpret_cast<const std::uint32_t*>(side.coded.scales)[place / hif4_block];
  }
  return codes;
}

/// The scale byte of a block; 0 where there is none.
__device__ std::uint32_t fetch_scale(const ProductSide& side, std::int64_t blocks, std::int64_t matrix,
                                     std::int64_t line, std::int64_t block) {
  if (line >= side.lines || block >= blocks) return 0;
  const std::int64_t place = (matrix * side.lines + line) * blocks + block;
  return side.coded.scales[side.family == Family::hif4 ? 4 * place : place];
}

template <int Length>
__device__ void fetch_side(const PartProduct& product, const ProductSide& side, std::int64_t matrix,
                           std::int64_t first_line, std::int64_t first_k, CodeUnit (&units)[units_of_thread],
                           std::uint32_t (&scales)[Fetched<Length>::scales_of_thread]) {
  using Shape = Fetched<Length>;
  const std::int64_t blocks = ceil_div(product.k, Length);
  const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
  for (int i = 0; i < units_of_thread; ++i) {
    const int index = thread + i * threads;
    units[i] = fetch_codes(product.k, side, blocks * Length, matrix, first_line + index / units_of_row,
                           first_k + index % units_of_row * unit);
  }
#pragma unroll
  for (int i = 0; i < Shape::scales_of_thread; ++i) {
    const int index = thread + i * threads;
    if (index >= Shape::scales_of_side) break;
    scales[i] = fetch_scale(side, blocks, matrix, first_line + index / Shape::scales_of_row,
                            first_k / Length + index % Shape::scales_of_row);
  }
}

template <int Length>
__device__ void fetch(const PartProduct& product, const TilePlace& place, std::int64_t first_k,
                      Fetched<Length>& fetched) {
  fetch_side<Length>(product, product.a, place.matrix, place.first_row, first_k, fetched.units[0], fetched.scales[0]);
  fetch_side<Length>(product, product.b, place.matrix, place.first_column, first_k, fetched.units[1],
                     fetched.scales[1]);
}

/// Whether an element is too wide for Dots::Narrow.
template <class Dots, int Length>
__device__ bool place_side(const ProductSide& side, const CodeUnit (&units)[units_of_thread],
                           const std::uint32_t (&scales)[Fetched<Length>::scales_of_thread],
                           SharedSide<Dots, Length>& shared) {
  using Shape = Fetched<Length>;
  const int thread = static_cast<int>(threadIdx.x);
  bool is_wide = false;
#pragma unroll
  for (int i = 0; i < units_of_thread; ++i) {
    const int index = thread + i * threads;
    const int column = index % units_of_row * unit;
    auto* values = &shared.values[index / units_of_row][column];
    Dots::store(shared.table, has_nibbles(side), column, units[i], values);
    if constexpr (has_wide_elements<Dots>) is_wide |= Dots::is_wide(values);
  }
#pragma unroll
  for (int i = 0; i < Shape::scales_of_thread; ++i) {
    const int index = thread + i * threads;
    if (index >= Shape::scales_of_side) break;
    shared.scales[index / Shape::scales_of_row][index % Shape::scales_of_row] =
        Dots::scale(side.element, decode_scale(side.family, scales[i]));
  }
  return is_wide;
}

/// Where a thread stands in the tile.
__device__ int lane_of_rows() { return static_cast<int>(threadIdx.x) / lanes; }
__device__ int lane_of_columns() { return static_cast<int>(threadIdx.x) % lanes; }

/// The sums of a thread's part of the tile: of the open slice or, without slices, of the open chunk; of the weighted
/// slices of the open chunk; of the chunks.
struct Sums {
  float inner[per_thread][per_thread] = {};
  float slices[per_thread][per_thread] = {};
  float totals[per_thread][per_thread] = {};
  bool is_first_chunk = true;

  __device__ void close_slice(const float (&weights_a)[per_thread], const float (&weights_b)[per_thread]) {
#pragma unroll
    for (int i = 0; i < per_thread; ++i) {
#pragma unroll
      for (int j = 0; j < per_thread; ++j) {
        slices[i][j] += inner[i][j] * (weights_a[i] * weights_b[j]);
        inner[i][j] = 0.0F;
      }
    }
  }

  __device__ void close_chunk(float (&sums)[per_thread][per_thread]) {
#pragma unroll
    for (int i = 0; i < per_thread; ++i) {
#pragma unroll
      for (int j = 0; j < per_thread; ++j) {
        totals[i][j] = is_first_chunk ? sums[i][j] : totals[i][j] + sums[i][j];
        sums[i][j] = 0.0F;
      }
    }
    is_first_chunk = false;
  }
};

/// Adds p of block `block` of the stage to every sum.
template <class Dots, int Length, class SharedSides>
__device__ void add_block(const SharedSides& shared, int block, float (&sums)[per_thread][per_thread]) {
  using Vector = typename Dots::Vector;
  constexpr int elements = sizeof(Vector) / sizeof(typename Dots::Value);
  const auto& rows_a = shared.a.values;
  const auto& rows_b = shared.b.values;
  const int first = block * Length;
  typename Dots::Sum dots[per_thread][per_thread];
#pragma unroll
  for (int i = 0; i < per_thread; ++i) {
#pragma unroll
    for (int j = 0; j < per_thread; ++j) dots[i][j] = Dots::empty();
  }
#pragma unroll 4
  for (int k = first; k < first + Length; k += elements) {
    Vector a[per_thread];
    Vector b[per_thread];
#pragma unroll
    for (int i = 0; i < per_thread; ++i) {
      a[i] = *reinterpret_cast<const Vector*>(&rows_a[lane_of_rows() + i * lanes][k]);
      b[i] = *reinterpret_cast<const Vector*>(&rows_b[lane_of_columns() + i * lanes][k]);
    }
#pragma unroll
    for (int i = 0; i < per_thread; ++i) {
#pragma unroll
      for (int j = 0; j < per_thread; ++j) Dots::add(dots[i][j], a[i], b[j]);
    }
  }
#pragma unroll
  for (int i = 0; i < per_thread; ++i) {
    const int row_a = lane_of_rows() + i * lanes;
#pragma unroll
    for (int j = 0; j < per_thread; ++j) {
      const int row_b = lane_of_columns() + j * lanes;
      sums[i][j] += Dots::product(dots[i][j], shared.a.scales[row_a][block], shared.b.scales[row_b][block],
                                  &rows_a[row_a][first], &rows_b[row_b][first]);
    }
  }
}

/// The weights of a slice in four lines of a side (C19); 1 in lines that do not exist.
__device__ void read_weights(const ProductSide& side, std::int64_t matrix, std::int64_t first_line, std::int64_t slices,
                             std::int64_t slice, float (&weights)[per_thread]) {
#pragma unroll
  for (int i = 0; i < per_thread; ++i) {
    const std::int64_t line = first_line + i * lanes;
    const bool is_weighted = side.macro != nullptr && line < side.lines;
    weights[i] =
        is_weighted ? macro_weight(side.macro_form, side.macro[(matrix * side.lines + line) * slices + slice]) : 1.0F;
  }
}

__device__ float finished(float sum, const PartProduct& product, std::int64_t matrix, const float* c) {
  const ProductEpilogue& epilogue = product.epilogue;
  if (product.a.coded.tensor_scales != nullptr) sum = sum * product.a.coded.tensor_scales[matrix];
  if (product.b.coded.tensor_scales != nullptr) sum = sum * product.b.coded.tensor_scales[matrix];
  if (epilogue.divisor != 1.0F) sum = sum / epilogue.divisor;
  if (epilogue.adds_to_c) sum = *c + epilogue.alpha * sum;
  return strict::canonicalise_nan(sum);
}

__device__ void store_tile(const PartProduct& product, const TilePlace& place, const Sums& sums) {
#pragma unroll
  for (int i = 0; i < per_thread; ++i) {
    const std::int64_t row = place.first_row + lane_of_rows() + i * lanes;
    if (row >= product.a.lines) break;
#pragma unroll
    for (int j = 0; j < per_thread; ++j) {
      const std::int64_t column = place.first_column + lane_of_columns() + j * lanes;
      if (column >= product.b.lines) break;
      float* c = product.c + (place.matrix * product.a.lines + row) * product.b.lines + column;
      *c = finished(sums.totals[i][j], product, place.matrix, c);
    }
  }
}

template <class Dots, int Length>
__device__ void multiply_tile(const PartProduct& product, const TilePlace& place, Shared<Dots, Length>& shared) {
  const std::int64_t blocks = ceil_div(product.k, Length);
  const std::int64_t slices = product.slice == 0 ? 0 : ceil_div(product.k, product.slice);
  const std::int64_t blocks_of_slice = product.slice / Length;
  const std::int64_t blocks_of_chunk = product.accumulator == Accumulator::seq ? blocks : chunk_elements / Length;
  std::int64_t left_in_slice = blocks_of_slice;
  std::int64_t left_in_chunk = blocks_of_chunk;
  Sums sums;
  Fetched<Length> fetched;
  fetch(product, place, 0, fetched);
  for (std::int64_t first_k = 0; first_k < product.k; first_k += stage) {
    __syncthreads();
    bool is_wide = place_side<Dots, Length>(product.a, fetched.units[0], fetched.scales[0], shared.a);
    is_wide |= place_side<Dots, Length>(product.b, fetched.units[1], fetched.scales[1], shared.b);
    if constexpr (has_wide_elements<Dots>) {
      is_wide = __syncthreads_or(static_cast<int>(is_wide)) != 0;
    } else {
      __syncthreads();
    }
    if (first_k + stage < product.k) fetch(product, place, first_k + stage, fetched);
#pragma unroll 1
    for (int i = 0; i < stage / Length; ++i) {
      const std::int64_t block = first_k / Length + i;
      if (block >= blocks) break;
      const bool is_last = block == blocks - 1;
      if (has_wide_elements<Dots> && is_wide) {
        add_block<Dots, Length>(shared, i, sums.inner);
      } else {
        add_block<typename Dots::Narrow, Length>(shared, i, sums.inner);
      }
      if (slices != 0 && (--left_in_slice == 0 || is_last)) {
        float weights_a[per_thread];
        float weights_b[per_thread];
        const std::int64_t slice = block / blocks_of_slice;
        read_weights(product.a, place.matrix, place.first_row + lane_of_rows(), slices, slice, weights_a);
        read_weights(product.b, place.matrix, place.first_column + lane_of_columns(), slices, slice, weights_b);
        sums.close_slice(weights_a, weights_b);
        left_in_slice = blocks_of_slice;
      }
      if (--left_in_chunk == 0 || is_last) {
        if (slices != 0) {
          sums.close_chunk(sums.slices);
        } else {
          sums.close_chunk(sums.inner);
        }
        left_in_chunk = blocks_of_chunk;
      }
    }
  }
  store_tile(product, place, sums);
}

/// Whether any byte is not 0, for the whole block.
__device__ bool is_any_set(const std::uint8_t* bytes, std::int64_t count) {
  unsigned found = 0;
#pragma unroll 8
  for (std::int64_t i = threadIdx.x; i < count; i += threads) found |= bytes[i];
  return __syncthreads_or(static_cast<int>(found)) != 0;
}

template <class Dots, int Length>
__global__ void __launch_bounds__(threads, Dots::blocks_per_processor)
    multiply(const __grid_constant__ PartProduct product, const std::uint8_t* tile_is_slow) {
  if (tile_is_slow != nullptr) {
    const std::int64_t down = ceil_div(product.a.lines, product_tile);
    const std::int64_t across = ceil_div(product.b.lines, product_tile);
    if (!is_any_set(tile_is_slow, product.batch * down * across)) return;
  }
  extern __shared__ __align__(16) unsigned char memory[];
  auto& shared = *reinterpret_cast<Shared<Dots, Length>*>(memory);
  const auto code = static_cast<std::uint8_t>(threadIdx.x);
  shared.a.table[code] = Dots::decode(product.a.element, code);
  shared.b.table[code] = Dots::decode(product.b.element, code);

  const std::int64_t tiles_down = ceil_div(product.a.lines, tile);
  const std::int64_t tiles_across = ceil_div(product.b.lines, tile);
  const std::int64_t tiles = product.batch * tiles_down * tiles_across;
  for (std::int64_t index = blockIdx.x; index < tiles; index += gridDim.x) {
    const std::int64_t across = index % tiles_across;
    const std::int64_t down = index / tiles_across % tiles_down;
    const TilePlace place = {index / tiles_across / tiles_down, down * tile, across * tile};
    if (tile_is_slow != nullptr) {
      const std::int64_t row = place.matrix * ceil_div(product.a.lines, product_tile) + down * tile / product_tile;
      const std::int64_t column = across * tile / product_tile;
      if (tile_is_slow[row * ceil_div(product.b.lines, product_tile) + column] == 0) continue;
    }
    multiply_tile<Dots, Length>(product, place, shared);
  }
}

template <class Dots, int Length>
Status launch_kernel(const PartProduct& product, const std::uint8_t* tile_is_slow, cudaStream_t stream) {
  constexpr int bytes = sizeof(Shared<Dots, Length>);
  constexpr int allowed_without_asking = 48 * 1024;
  if (bytes > allowed_without_asking &&
      cudaFuncSetAttribute(multiply<Dots, Length>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes) != cudaSuccess) {
    return Status::launch_failed;
  }
  const std::int64_t tiles = product.batch * ceil_div(product.a.lines, tile) * ceil_div(product.b.lines, tile);
  // Looking at the byte of a tile is cheaper than starting a block for it.
  constexpr unsigned enough_blocks = 528;
  const unsigned all_blocks = grid_for(tiles, 1);
  const unsigned grid = tile_is_slow == nullptr ? all_blocks : std::min(all_blocks, enough_blocks);
  multiply<Dots, Length><<<grid, threads, bytes, stream>>>(product, tile_is_slow);
  return launch_status();
}

template <template <int> class Dots>
Status launch_length(const PartProduct& product, const std::uint8_t* tile_is_slow, cudaStream_t stream) {
  switch (product.block) {
    case 8: return launch_kernel<Dots<8>, 8>(product, tile_is_slow, stream);
    case 16: return launch_kernel<Dots<16>, 16>(product, tile_is_slow, stream);
    case 32: return launch_kernel<Dots<32>, 32>(product, tile_is_slow, stream);
    case 64: return launch_kernel<Dots<64>, 64>(product, tile_is_slow, stream);
    default: return Status::invalid;
  }
}

}  // namespace

Status launch_general_product(const PartProduct& product, const std::uint8_t* tile_is_slow, cudaStream_t stream) {
  if (product.batch == 0 || product.a.lines == 0 || product.b.lines == 0) return Status::ok;
  const auto either = [&](Element element) { return product.a.element == element || product.b.element == element; };
  if (either(Element::e5m2)) return launch_length<SplitDots>(product, tile_is_slow, stream);
  if (either(Element::e4m3)) return launch_length<DoubleDots>(product, tile_is_slow, stream);
  if (either(Element::e3m2)) return launch_length<FloatDots>(product, tile_is_slow, stream);
  return launch_length<ByteDots>(product, tile_is_slow, stream);
}

}  // namespace fp4proof::gpu
