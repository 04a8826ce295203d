#include "gpu/mx_packed.h"

#include <cstdint>

#include "formats/scale_layout.h"
#include "gpu/e2m1_packed.h"
#include "gpu/launch.h"
#include "gpu/mx_packed_lanes.h"

namespace fp4proof::gpu {

namespace {

using namespace mx_packed;

// ---------------------------------------------------------------------------------------------------------------------
// What every kernel is told, and where its results go
// ---------------------------------------------------------------------------------------------------------------------

/// Codes and scales of one orientation of the matrix.
struct Target {
  std::uint8_t* codes;
  std::uint8_t* scales;
  std::int64_t lines;
  std::int64_t blocks;  // of a line
  std::int64_t matrix_scale_bytes;
};

struct Task {
  const std::uint32_t* input;
  std::int64_t rows;
  std::int64_t columns;
  PackedScaleRule rule;
};

template <ScaleLayout Layout>
__device__ std::uint8_t* scale_at(const Target& to, std::int64_t matrix, std::int64_t line, std::int64_t index) {
  const ScaleGrid grid = {static_cast<std::size_t>(to.lines), static_cast<std::size_t>(to.blocks), 1};
  return to.scales + matrix * to.matrix_scale_bytes +
         scale_offset(Layout, grid, static_cast<std::size_t>(line), static_cast<std::size_t>(index));
}

/// Stores the scales of the blocks index .. index + 3 of a line, where the line has them; index is a multiple of 4.
template <ScaleLayout Layout>
__device__ void store_four_scales(const Target& to, std::int64_t matrix, std::int64_t line, std::int64_t index,
                                  std::uint32_t codes) {
  if (to.blocks % 4 == 0) {
    if (index < to.blocks) {
      *reinterpret_cast<std::uint32_t*>(scale_at<Layout>(to, matrix, line, index)) = codes;
    }
    return;
  }
  for (int i = 0; i < 4 && index + i < to.blocks; ++i) {
    *scale_at<Layout>(to, matrix, line, index + i) = static_cast<std::uint8_t>(codes >> (8 * i));
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// 1D blocks along the columns: the matrix is one string of blocks
// ---------------------------------------------------------------------------------------------------------------------

/// Where four scales go that stand one after the other in row-major order.
template <ScaleLayout Layout>
__device__ void store_scale_string(const Target& to, std::int64_t index, std::int64_t count, std::uint32_t codes) {
  if constexpr (Layout == ScaleLayout::row_major) {
    store_four_of_string(to.scales, index, count, codes);
  } else if (index < count) {
    const bool small = (count | to.blocks) >> 32 == 0;
    const std::int64_t line =
        small ? static_cast<std::uint32_t>(index) / static_cast<std::uint32_t>(to.blocks) : index / to.blocks;
    const std::int64_t matrix = to.lines % 128 == 0 ? 0 : line / to.lines;  // whole tiles: buffers follow each other
    store_four_scales<Layout>(to, matrix, line - matrix * to.lines, index - line * to.blocks, codes);
  }
}

template <ScaleLayout Layout, int Chunks, int Threads>
__global__ void __launch_bounds__(Threads) quantize_rows(Task task, Target to, std::int64_t pieces) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t warp = (std::int64_t{blockIdx.x} * Threads + threadIdx.x) / 32;
  const std::int64_t first = warp * (Chunks * pieces_per_chunk);
  if (first >= pieces) return;
  const int rest = static_cast<int>(min(pieces - first, std::int64_t{Chunks * pieces_per_chunk})) - lane;
  const auto* input = reinterpret_cast<const uint4*>(task.input) + first + lane;
  auto* codes = reinterpret_cast<std::uint32_t*>(to.codes) + first + lane;

  uint4 words[Chunks * loads_per_chunk];
#pragma unroll
  for (int i = 0; i < Chunks * loads_per_chunk; ++i) {
    words[i] = i * 32 < rest ? __ldcs(input + i * 32) : uint4{0, 0, 0, 0};
  }
#pragma unroll
  for (int chunk = 0; chunk < Chunks; ++chunk) {
    ScalePair scales[2];
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
      const int load = chunk * loads_per_chunk + pair * 2;
      scales[pair] = scale_pair(largest_pair(words[load], words[load + 1]), task.rule);
#pragma unroll
      for (int which = 0; which < 2; ++which) {
        const int i = load + which;
        if (i * 32 < rest) __stcs(codes + i * 32, eight_codes(words[i], scales[pair], which));
      }
    }
    const std::uint32_t bytes = transposed_bytes(scale_bytes_of(scales[0], scales[1]), lane);
    if (lane % lanes_per_block == 0) {
      const std::int64_t index = first / lanes_per_block + chunk * scales_per_chunk + first_scale_of_lane(lane);
      store_scale_string<Layout>(to, index, pieces / lanes_per_block, bytes);
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Blocks along the rows: a lane holds 32 rows of two columns
// ---------------------------------------------------------------------------------------------------------------------

constexpr int columns_per_warp = 64;

/// Codes of a block in each of two columns, and its scales.
struct ColumnBlocks {
  uint4 codes[2];
  std::uint32_t scales;  // in the low byte of each half
};

template <bool Tiles>
__device__ ColumnBlocks quantize_columns(const std::uint32_t (&words)[block], const PackedScaleRule& rule) {
  std::uint32_t largest_of[4] = {};
#pragma unroll
  for (int row = 0; row < block; ++row) {
    largest_of[row % 4] = packed_max_u16(largest_of[row % 4], packed_magnitude(words[row]));
  }
  std::uint32_t amax =
      packed_max_u16(packed_max_u16(largest_of[0], largest_of[1]), packed_max_u16(largest_of[2], largest_of[3]));
  if constexpr (Tiles) {  // 16 lanes hold a tile
    amax = packed_max_u16(amax, permuted_bytes(amax, 0, 0x1032U));
#pragma unroll
    for (int distance = 1; distance < 16; distance *= 2) amax = larger_of_lanes(amax, distance);
  }
  const ScalePair scales = scale_pair(amax, rule);
  const std::uint32_t magnitudes = packed_finite_magnitudes(scales.not_finite);
  std::uint32_t fours[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) fours[i] = packed_e2m1_rows(words + 4 * i, scales.inverse, magnitudes);

  ColumnBlocks out;
  out.scales = packed_marked_codes(scales.codes, scales.not_finite);
#pragma unroll
  for (int column = 0; column < 2; ++column) {
    const std::uint32_t selector = column == 0 ? 0x5410U : 0x7632U;
    const std::uint32_t kept = ~sign_of_half(scales.not_finite, column);
    out.codes[column] = {
        permuted_bytes(fours[0], fours[1], selector) & kept, permuted_bytes(fours[2], fours[3], selector) & kept,
        permuted_bytes(fours[4], fours[5], selector) & kept, permuted_bytes(fours[6], fours[7], selector) & kept};
  }
  return out;
}

/// Results of a thread block whose warps stand Across x Down over 64 columns x 32 rows each, in shared memory, so that
/// the code lines (columns of the input) leave in pieces of 16 * Down bytes. Even and odd columns have a plane each,
/// and a line one unit more than it needs: no two lanes that write together meet in a bank.
template <int Across, int Down>
struct ColumnStage {
  static constexpr int lines = Across * columns_per_warp;
  uint4 codes[2][lines / 2][Down + 1];
  std::uint8_t scales[lines][Down];

  __device__ void put(int across, int down, int lane, const ColumnBlocks& blocks) {
    const int pair = across * 32 + lane;
    for (int column = 0; column < 2; ++column) codes[column][pair][down] = blocks.codes[column];
    scales[2 * pair][down] = static_cast<std::uint8_t>(blocks.scales);
    scales[2 * pair + 1][down] = static_cast<std::uint8_t>(blocks.scales >> 16);
  }

  /// By all threads, after a barrier.
  template <ScaleLayout Layout>
  __device__ void store(const Target& to, std::int64_t matrix, std::int64_t line, std::int64_t index) const {
    constexpr int threads = Across * Down * 32;
    const auto thread = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int i = thread; i < lines * Down; i += threads) {
      const int l = i / Down;
      const int unit = i % Down;
      if (line + l < to.lines && index + unit < to.blocks) {
        auto* line_codes = reinterpret_cast<uint4*>(to.codes) + (matrix * to.lines + line + l) * to.blocks + index;
        __stcs(line_codes + unit, codes[l % 2][l / 2][unit]);
      }
    }
    constexpr int words = Down / 4;
    static_assert(words * 4 == Down);
    for (int i = thread; i < lines * words; i += threads) {
      const int l = i / words;
      const int word = i % words;
      if (line + l < to.lines) {
        const auto four = *reinterpret_cast<const std::uint32_t*>(&scales[l][4 * word]);
        store_four_scales<Layout>(to, matrix, line + l, index + 4 * word, four);
      }
    }
  }
};

/// Thread blocks stand over tiles of the matrix. Bands of `band` tiles across are walked row of tiles by row of tiles.
struct Walk {
  std::int64_t across;
  std::int64_t down;
  std::int64_t band;
};

struct Place {
  std::int64_t matrix;
  std::int64_t across;
  std::int64_t down;
};

__device__ Place place_of(const Walk& walk, std::int64_t tile) {
  const auto tiles = static_cast<std::uint32_t>(walk.across * walk.down);
  const auto matrix = static_cast<std::uint32_t>(tile) / tiles;
  const auto rest = static_cast<std::uint32_t>(tile) % tiles;
  const auto per_band = static_cast<std::uint32_t>(walk.band * walk.down);
  const std::uint32_t bands_before = rest / per_band;
  const std::uint32_t within = rest % per_band;
  const auto left = static_cast<std::uint32_t>(walk.across - bands_before * walk.band);
  const auto width = left < walk.band ? left : static_cast<std::uint32_t>(walk.band);
  return {matrix, bands_before * walk.band + within % width, within / width};
}

template <ScaleLayout Layout, bool Tiles, int Across, int Down>
__global__ void __launch_bounds__(Across* Down * 32) quantize_column_blocks(Task task, Target to, Walk walk) {
  __shared__ ColumnStage<Across, Down> stage;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int across = warp % Across;
  const int down = warp / Across;
  const Place place = place_of(walk, blockIdx.x);
  const std::int64_t line = place.across * (Across * columns_per_warp);
  const std::int64_t index = place.down * Down;
  const std::int64_t column = line + across * columns_per_warp + 2 * lane;
  const std::int64_t row = (index + down) * block;

  std::uint32_t words[block];
  const std::int64_t pitch = task.columns / 2;
  const std::uint32_t* input = task.input + (place.matrix * task.rows + row) * pitch + column / 2;
  const bool inside = column < task.columns && row < task.rows;
#pragma unroll
  for (int i = 0; i < block; ++i) words[i] = inside ? __ldcs(input + i * pitch) : 0;
  stage.put(across, down, lane, quantize_columns<Tiles>(words, task.rule));
  __syncthreads();
  stage.template store<Layout>(to, place.matrix, line, index);
}

// ---------------------------------------------------------------------------------------------------------------------
// Both axes: thread blocks take 128 x 128 elements
// ---------------------------------------------------------------------------------------------------------------------

constexpr int both_extent = 128;
constexpr int both_threads = 256;

template <ScaleLayout Layout>
__global__ void __launch_bounds__(both_threads, 4)
    quantize_both(Task task, Target along_columns, Target along_rows, Walk walk) {
  constexpr int across = both_extent / columns_per_warp;
  constexpr int down = both_extent / block;
  constexpr int pieces = both_extent / 8;  // 16-byte pieces of a row
  constexpr int rows_per_load = both_threads / pieces;
  constexpr int loads = both_extent / rows_per_load;
  __shared__ union {
    uint4 raw[both_extent][pieces];
    ColumnStage<across, down> stage;
  } shared;
  const auto thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const Place place = place_of(walk, blockIdx.x);
  const std::int64_t tile_row = place.down * both_extent;
  const std::int64_t tile_column = place.across * both_extent;

  const int piece = thread % pieces;
  const int row = thread / pieces;
  const std::int64_t pitch = task.columns / 8;
  const std::int64_t first = (place.matrix * task.rows + tile_row + row) * pitch + tile_column / 8 + piece;
  const bool column_inside = tile_column + piece * 8 < task.columns;
  const auto rows_inside = static_cast<int>(min(task.rows - tile_row, std::int64_t{both_extent}));
  uint4 words[loads];
#pragma unroll
  for (int i = 0; i < loads; ++i) {
    const bool inside = column_inside && row + i * rows_per_load < rows_inside;
    const auto* input = reinterpret_cast<const uint4*>(task.input) + first + i * rows_per_load * pitch;
    words[i] = inside ? __ldcs(input) : uint4{0, 0, 0, 0};
  }
#pragma unroll
  for (int i = 0; i < loads; ++i) shared.raw[row + i * rows_per_load][piece] = words[i];
#pragma unroll
  for (int chunk = 0; chunk < loads; chunk += 4) {
    ScalePair scales[2];
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
      const int load = chunk + pair * 2;
      scales[pair] = scale_pair(largest_pair(words[load], words[load + 1]), task.rule);
#pragma unroll
      for (int which = 0; which < 2; ++which) {
        const int i = load + which;
        if (column_inside && row + i * rows_per_load < rows_inside) {
          auto* codes = reinterpret_cast<std::uint32_t*>(along_columns.codes) + first + i * rows_per_load * pitch;
          __stcs(codes, eight_codes(words[i], scales[pair], which));
        }
      }
    }
    const std::uint32_t bytes = transposed_bytes(scale_bytes_of(scales[0], scales[1]), lane);
    const int line = row + (chunk + lane / lanes_per_block % 4) * rows_per_load;
    if (lane % lanes_per_block == 0 && line < rows_inside) {
      store_four_scales<Layout>(along_columns, place.matrix, tile_row + line, tile_column / block, bytes);
    }
  }
  __syncthreads();

  const int warp = thread / 32;
  std::uint32_t column_words[block];
#pragma unroll
  for (int i = 0; i < block; ++i) {
    column_words[i] =
        reinterpret_cast<const std::uint32_t*>(shared.raw[warp / across * block + i])[warp % across * 32 + lane];
  }
  __syncthreads();
  shared.stage.put(warp % across, warp / across, lane, quantize_columns<false>(column_words, task.rule));
  __syncthreads();
  shared.stage.template store<Layout>(along_rows, place.matrix, tile_column, tile_row / block);
}

// ---------------------------------------------------------------------------------------------------------------------
// 32 x 32 tiles, lines along the columns: a warp holds two tiles side by side
// ---------------------------------------------------------------------------------------------------------------------

template <ScaleLayout Layout, int Warps>
__global__ void __launch_bounds__(Warps * 32) quantize_row_tiles(Task task, Target to, Walk walk) {
  constexpr int rows_per_load = 4;
  constexpr int loads = block / rows_per_load;
  __shared__ alignas(4) std::uint8_t tile_scales[2 * Warps];
  const auto thread = static_cast<int>(threadIdx.x);
  const int lane = thread % 32;
  const Place place = place_of(walk, blockIdx.x);
  const std::int64_t tile_column = place.across * (Warps * columns_per_warp);
  const std::int64_t column = tile_column + thread / 32 * columns_per_warp + lane % 8 * 8;
  const std::int64_t pitch = task.columns / 8;
  const std::int64_t first = (place.matrix * task.rows + place.down * block + lane / 8) * pitch + column / 8;
  const bool inside = column < task.columns;
  uint4 words[loads];
#pragma unroll
  for (int i = 0; i < loads; ++i) {
    const auto* input = reinterpret_cast<const uint4*>(task.input) + first + i * rows_per_load * pitch;
    words[i] = inside ? __ldcs(input) : uint4{0, 0, 0, 0};
  }
  std::uint32_t amax = 0;
#pragma unroll
  for (int i = 0; i < loads; ++i) amax = packed_max_u16(amax, largest(words[i]));
  amax = packed_max_u16(amax, permuted_bytes(amax, 0, 0x1032U));
  amax = larger_of_lanes(larger_of_lanes(amax, 1), 2);   // columns of the tile
  amax = larger_of_lanes(larger_of_lanes(amax, 8), 16);  // rows
  const ScalePair scales = scale_pair(amax, task.rule);
#pragma unroll
  for (int i = 0; i < loads; ++i) {
    auto* codes = reinterpret_cast<std::uint32_t*>(to.codes) + first + i * rows_per_load * pitch;
    if (inside) __stcs(codes, eight_codes(words[i], scales, 0));
  }
  if (lane % lanes_per_block == 0 && lane < 8) {
    const std::uint32_t code = packed_marked_codes(scales.codes, scales.not_finite);
    tile_scales[thread / 32 * 2 + lane / lanes_per_block] = static_cast<std::uint8_t>(code);
  }
  __syncthreads();
  constexpr int scale_words = Warps / 2;
  for (int i = thread; i < scale_words * block; i += Warps * 32) {
    const int word = i % scale_words;
    store_four_scales<Layout>(to, place.matrix, place.down * block + i / scale_words, tile_column / block + 4 * word,
                              reinterpret_cast<const std::uint32_t*>(tile_scales)[word]);
  }
}
// ---------------------------------------------------------------------------------------------------------------------
// Launching
// ---------------------------------------------------------------------------------------------------------------------

bool is_aligned(const void* pointer, std::uintptr_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

bool is_aligned(const Coded& coded) { return is_aligned(coded.codes, 16) && is_aligned(coded.scales, 4); }

/// Whether the profile is bfloat16's road to E2M1 with the default fields of docs/rules-mx.md.
bool takes_profile(const QuantizeJob& job) {
  const Profile& p = job.profile;
  return job.dtype == DType::bf16 && !job.three_quarters && p.family == Family::mx && p.element == Element::e2m1 &&
         p.rounding == Rounding::rne && p.element_arithmetic == ElementArithmetic::exact &&
         p.nan == NanPolicy::scale_nan && p.inf == InfPolicy::scale_nan && p.zero_scale_code == 0 &&
         p.tiny == TinyPolicy::clamp && p.zero_sign == ZeroSign::kept && p.nibble_order == NibbleOrder::even_low &&
         p.scale_arithmetic == ScaleArithmetic::exact && job.scale_layout != ScaleLayout::patches_16 &&
         is_aligned(job.input, 16);
}

Task task_of(const QuantizeJob& job) {
  return {static_cast<const std::uint32_t*>(job.input), job.shape.rows, job.shape.columns,
          packed_scale_rule(job.profile.scale_rule)};
}

Target target_of(const QuantizeJob& job, int axis, const Coded& coded) {
  MatrixShape shape = job.shape;
  shape.axis = axis;
  const CodedShape out = coded_shape(job.profile, shape, job.scale_layout);
  return {coded.codes, coded.scales, out.lines, out.blocks, out.scale_bytes_per_matrix()};
}

/// The walk over tiles of so many columns and rows, and the grid for it: a 2^31st part of what memory can hold.
Walk walk_over(const MatrixShape& shape, std::int64_t tile_columns, std::int64_t tile_rows, std::int64_t band) {
  const std::int64_t across = ceil_div(shape.columns, tile_columns);
  return {across, ceil_div(shape.rows, tile_rows), across < band ? across : band};
}

unsigned grid_of(const MatrixShape& shape, const Walk& walk) {
  return static_cast<unsigned>(shape.batch * walk.across * walk.down);
}

template <ScaleLayout Layout>
void launch_rows(const QuantizeJob& job, const Coded& coded, cudaStream_t stream) {
  constexpr int chunks = 2;
  constexpr int threads = 256;
  const std::int64_t pieces = job.shape.elements() / 8;
  const unsigned grid = grid_for(pieces, threads / 32 * chunks * pieces_per_chunk);
  quantize_rows<Layout, chunks, threads><<<grid, threads, 0, stream>>>(task_of(job), target_of(job, 1, coded), pieces);
}

template <ScaleLayout Layout>
void launch_row_tiles(const QuantizeJob& job, const Coded& coded, cudaStream_t stream) {
  constexpr int warps = 8;
  const Walk walk = walk_over(job.shape, warps * columns_per_warp, block, 1 << 20);
  quantize_row_tiles<Layout, warps>
      <<<grid_of(job.shape, walk), warps * 32, 0, stream>>>(task_of(job), target_of(job, 1, coded), walk);
}

template <ScaleLayout Layout, bool Tiles>
void launch_column_blocks(const QuantizeJob& job, const Coded& coded, cudaStream_t stream) {
  constexpr int across = 2;
  constexpr int down = 4;
  const Walk walk = walk_over(job.shape, across * columns_per_warp, down * block, 8);
  quantize_column_blocks<Layout, Tiles, across, down>
      <<<grid_of(job.shape, walk), across * down * 32, 0, stream>>>(task_of(job), target_of(job, 0, coded), walk);
}

template <ScaleLayout Layout>
void launch(const QuantizeJob& job, const Coded& coded, cudaStream_t stream) {
  const bool tiles = job.profile.block.is_2d();
  if (job.shape.axis == 1) {
    tiles ? launch_row_tiles<Layout>(job, coded, stream) : launch_rows<Layout>(job, coded, stream);
  } else {
    tiles ? launch_column_blocks<Layout, true>(job, coded, stream)
          : launch_column_blocks<Layout, false>(job, coded, stream);
  }
}

template <ScaleLayout Layout>
void launch_both(const QuantizeJob& job, const Coded& along_columns, const Coded& along_rows, cudaStream_t stream) {
  const Walk walk = walk_over(job.shape, both_extent, both_extent, 8);
  quantize_both<Layout><<<grid_of(job.shape, walk), both_threads, 0, stream>>>(
      task_of(job), target_of(job, 1, along_columns), target_of(job, 0, along_rows), walk);
}

}  // namespace

bool takes_mx_packed(const QuantizeJob& job, const Coded& coded) {
  const MatrixShape& shape = job.shape;
  const BlockShape blocks = job.profile.block;
  if (!takes_profile(job) || !is_aligned(coded) || blocks.cols != block) return false;
  if (blocks == BlockShape{block, block}) return shape.rows % block == 0 && shape.columns % block == 0;
  if (blocks.rows != 1) return false;
  if (shape.axis == 0) return shape.rows % block == 0 && shape.columns % 2 == 0;
  return shape.columns % (job.scale_layout == ScaleLayout::row_major ? block : 4 * block) == 0;
}

Status quantize_mx_packed(const QuantizeJob& job, const Coded& coded, cudaStream_t stream) {
  if (job.scale_layout == ScaleLayout::row_major) {
    launch<ScaleLayout::row_major>(job, coded, stream);
  } else {
    launch<ScaleLayout::tiled_128x4>(job, coded, stream);
  }
  return launch_status();
}

bool takes_both_axes_mx_packed(const QuantizeJob& job, const Coded& along_columns, const Coded& along_rows) {
  return takes_profile(job) && is_aligned(along_columns) && is_aligned(along_rows) &&
         job.profile.block == BlockShape{1, block} && job.shape.rows % block == 0 && job.shape.columns % block == 0;
}

Status quantize_both_axes_mx_packed(const QuantizeJob& job, const Coded& along_columns, const Coded& along_rows,
                                    cudaStream_t stream) {
  if (job.scale_layout == ScaleLayout::row_major) {
    launch_both<ScaleLayout::row_major>(job, along_columns, along_rows, stream);
  } else {
    launch_both<ScaleLayout::tiled_128x4>(job, along_columns, along_rows, stream);
  }
  return launch_status();
}

}  // namespace fp4proof::gpu
