#include "gpu/mx_packed.h"

#include <cstdint>

#include "formats/scale_layout.h"
#include "gpu/checks.h"
#include "gpu/e2m1_packed.h"
#include "gpu/launch.h"
#include "gpu/mx_packed_columns.h"
#include "gpu/mx_packed_lanes.h"
#include "gpu/mx_packed_task.h"
#include "gpu/mx_packed_tiles.h"

namespace fp4proof::gpu {

namespace {

using namespace mx_packed;

// ---------------------------------------------------------------------------------------------------------------------
// 1D blocks along the columns: the matrix is one string of blocks
// ---------------------------------------------------------------------------------------------------------------------

/// Where four scales go that stand one after the other in row-major order. The warp's string starts at scale `first`.
template <ScaleLayout Layout>
class ScaleString {
 public:
  __device__ ScaleString(const Target& to, std::int64_t first, std::int64_t count)
      : to_(to), first_(first), count_(count) {
    if constexpr (Layout != ScaleLayout::row_major) {
      const bool small = (count | to.blocks) >> 32 == 0;
      line_ = small ? static_cast<std::uint32_t>(first) / static_cast<std::uint32_t>(to.blocks) : first / to.blocks;
      index_ = first - line_ * to.blocks;
      if (to.lines % 128 != 0) {  // otherwise the tiles of all matrices are one string of tiles
        matrix_ = line_ / to.lines;
        line_ -= matrix_ * to.lines;
      }
    }
  }

  template <bool Whole>
  __device__ void store(int place, std::uint32_t codes) const {
    if constexpr (Layout == ScaleLayout::row_major) {
      if constexpr (Whole) {
        *reinterpret_cast<std::uint32_t*>(to_.scales + first_ + place) = codes;
      } else {
        store_four_of_string(to_.scales, first_ + place, count_, codes);
      }
    } else {
      std::int64_t index = index_ + place;
      std::int64_t line = line_;
      std::int64_t matrix = matrix_;
      while (index >= to_.blocks) {
        index -= to_.blocks;
        if (++line == to_.lines && to_.lines % 128 != 0) {
          line = 0;
          ++matrix;
        }
      }
      if (Whole || first_ + place < count_) {
        *reinterpret_cast<std::uint32_t*>(scale_at<Layout>(to_, matrix, line, index)) = codes;
      }
    }
  }

 private:
  const Target& to_;
  std::int64_t first_;
  std::int64_t count_;
  std::int64_t line_ = 0;
  std::int64_t index_ = 0;
  std::int64_t matrix_ = 0;
};

/// What a warp does: `Chunks` chunks of the string from piece `first` on. Not `Whole`: `rest` of its pieces are there.
template <ScaleLayout Layout, int Chunks, bool Whole>
__device__ void quantize_string(const Task& task, const Target& to, std::int64_t first, std::int64_t pieces) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int rest = Whole ? 0 : static_cast<int>(pieces - first) - lane;
  const auto* input = reinterpret_cast<const uint4*>(task.input) + first + lane;
  auto* codes = reinterpret_cast<std::uint32_t*>(to.codes) + first + lane;
  uint4 words[Chunks * loads_per_chunk];
#pragma unroll
  for (int i = 0; i < Chunks * loads_per_chunk; ++i) {
    words[i] = Whole || i * 32 < rest ? __ldcs(input + i * 32) : uint4{0, 0, 0, 0};
  }
  const ScaleString<Layout> scale_string(to, first / lanes_per_block, pieces / lanes_per_block);
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
        const std::uint32_t eight = eight_codes(words[i], scales[pair], which);
        if (Whole || i * 32 < rest) __stcs(codes + i * 32, eight);
      }
    }
    const std::uint32_t bytes = transposed_bytes(scale_bytes_of(scales[0], scales[1]), lane);
    if (lane % lanes_per_block == 0) {
      scale_string.template store<Whole>(chunk * scales_per_chunk + first_scale_of_lane(lane), bytes);
    }
  }
}

template <ScaleLayout Layout, int Chunks, int Threads>
__global__ void __launch_bounds__(Threads) quantize_rows(Task task, Target to, std::int64_t pieces) {
  constexpr int pieces_per_warp = Chunks * pieces_per_chunk;
  const std::int64_t warp = std::int64_t{blockIdx.x} * (Threads / 32) + threadIdx.x / 32;
  const std::int64_t first = warp * pieces_per_warp;
  if (first + pieces_per_warp <= pieces) {
    quantize_string<Layout, Chunks, true>(task, to, first, pieces);
  } else if (first < pieces) {
    quantize_string<Layout, Chunks, false>(task, to, first, pieces);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// 32 x 32 tiles, lines along the columns: a warp holds two tiles side by side
// ---------------------------------------------------------------------------------------------------------------------

template <ScaleLayout Layout, int Warps, bool Whole>
__device__ void quantize_row_tile(const Task& task, const Target& to, const Tile& tile, std::uint32_t* tile_scales) {
  constexpr std::uint32_t rows_per_load = 4;
  constexpr std::uint32_t loads = block / rows_per_load;
  const auto thread = static_cast<std::uint32_t>(threadIdx.x);
  const std::uint32_t lane = thread % 32;
  const std::uint32_t column = thread / 32 * columns_per_warp + lane % 8 * 8;
  const auto pitch = static_cast<std::uint32_t>(task.columns) * 2;
  const std::uint32_t distance = lane / 8 * pitch + column * 2;
  const std::uint32_t step = rows_per_load * pitch;
  const std::uint8_t* const input = input_at(task, tile);
  const bool inside = Whole || tile.column + column < task.columns;
  uint4 words[loads];
#pragma unroll
  for (std::uint32_t i = 0; i < loads; ++i) {
    words[i] = inside ? load_stream<uint4>(input, distance + i * step) : uint4{0, 0, 0, 0};
  }
  std::uint32_t amax = 0;
#pragma unroll
  for (std::uint32_t i = 0; i < loads; ++i) amax = packed_max_u16(amax, largest(words[i]));
  amax = packed_max_u16(amax, permuted_bytes(amax, 0, 0x1032U));
  amax = larger_of_lanes(larger_of_lanes(amax, 1), 2);   // columns of the tile
  amax = larger_of_lanes(larger_of_lanes(amax, 8), 16);  // rows
  const ScalePair scales = scale_pair(amax, task.rule);
  std::uint8_t* const codes = codes_at(task, to, tile);
#pragma unroll
  for (std::uint32_t i = 0; i < loads; ++i) {
    const std::uint32_t eight = eight_codes(words[i], scales, 0);
    if (inside) store_stream(codes, distance / 4 + i * (step / 4), eight);
  }
  if (lane % lanes_per_block == 0 && lane < 8) {
    const std::uint32_t code = packed_marked_codes(scales.codes, scales.not_finite);
    reinterpret_cast<std::uint8_t*>(tile_scales)[thread / 32 * 2 + lane / lanes_per_block] =
        static_cast<std::uint8_t>(code);
  }
  __syncthreads();
  constexpr std::uint32_t scale_words = Warps / 2;
  if (thread < scale_words * block) {
    const std::uint32_t word = thread % scale_words;
    ScaleWords<Layout>(to, tile.matrix, tile.row, tile.column / block)
        .template store<Whole>(thread / scale_words, word, tile_scales[word]);
  }
}

template <ScaleLayout Layout, int Warps>
__global__ void __launch_bounds__(Warps * 32) quantize_row_tiles(Task task, Target to, unsigned log2_band) {
  __shared__ std::uint32_t tile_scales[Warps / 2];
  const Tile tile = tile_of_block<Warps * columns_per_warp, block>(task, log2_band);
  if (tile.column >= task.columns) return;
  if (tile.whole && to.blocks % 4 == 0) {
    quantize_row_tile<Layout, Warps, true>(task, to, tile, tile_scales);
  } else {
    quantize_row_tile<Layout, Warps, false>(task, to, tile, tile_scales);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Launching
// ---------------------------------------------------------------------------------------------------------------------

bool are_aligned(const Coded& coded) { return is_aligned(coded.codes, 16) && is_aligned(coded.scales, 4); }

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
  return {static_cast<const std::uint8_t*>(job.input), job.shape.rows, job.shape.columns,
          packed_scale_rule(job.profile.scale_rule)};
}

Target target_of(const QuantizeJob& job, int axis, const Coded& coded) {
  MatrixShape shape = job.shape;
  shape.axis = axis;
  const CodedShape out = coded_shape(job.profile, shape, job.scale_layout);
  return {coded.codes, coded.scales, out.lines, out.blocks, out.scale_bytes_per_matrix()};
}

/// The grid that tile_of_block() reads, for bands of at most 2^log2_band tiles across.
struct Walk {
  dim3 grid;
  unsigned log2_band;
};

Walk walk_over(const MatrixShape& shape, std::int64_t tile_columns, std::int64_t tile_rows, unsigned log2_band) {
  const std::int64_t across = ceil_div(shape.columns, tile_columns);
  while (log2_band > 0 && across <= std::int64_t{1} << (log2_band - 1)) --log2_band;
  const std::int64_t band = std::int64_t{1} << log2_band;
  return {dim3(static_cast<unsigned>(ceil_div(shape.rows, tile_rows) * band),
               static_cast<unsigned>(ceil_div(across, band)), static_cast<unsigned>(shape.batch)),
          log2_band};
}

template <ScaleLayout Layout>
Status launch_rows(const QuantizeJob& job, const Coded& coded, cudaStream_t stream) {
  constexpr int chunks = 1;
  constexpr int threads = 256;
  const std::int64_t pieces = job.shape.elements() / 8;
  const unsigned grid = grid_for(pieces, threads / 32 * chunks * pieces_per_chunk);
  quantize_rows<Layout, chunks, threads><<<grid, threads, 0, stream>>>(task_of(job), target_of(job, 1, coded), pieces);
  return launch_status();
}

template <ScaleLayout Layout>
Status launch_row_tiles(const QuantizeJob& job, const Coded& coded, cudaStream_t stream) {
  constexpr int warps = 8;
  const Walk walk = walk_over(job.shape, warps * columns_per_warp, block, 5);
  quantize_row_tiles<Layout, warps>
      <<<walk.grid, warps * 32, 0, stream>>>(task_of(job), target_of(job, 1, coded), walk.log2_band);
  return launch_status();
}

/// Along the rows, and along the columns where AlongColumns says so.
template <ScaleLayout Layout, bool AlongColumns, bool Tiles>
Status launch_tiles(const QuantizeJob& job, const Coded& along_columns, const Coded& along_rows, cudaStream_t stream) {
  constexpr auto kernel = quantize_tiles<Layout, AlongColumns, Tiles>;
  constexpr int memory = sizeof(TileStage);
  if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, memory) != cudaSuccess) {
    return Status::launch_failed;
  }
  const Walk walk = walk_over(job.shape, tile_extent, 2 * tile_extent, AlongColumns ? 7 : 2);
  kernel<<<walk.grid, tile_threads, memory, stream>>>(task_of(job), target_of(job, 1, along_columns),
                                                      target_of(job, 0, along_rows), walk.log2_band);
  return launch_status();
}

template <ScaleLayout Layout>
Status launch(const QuantizeJob& job, const Coded& coded, cudaStream_t stream) {
  const bool tiles = job.profile.block.is_2d();
  if (job.shape.axis == 0) {
    return tiles ? launch_tiles<Layout, false, true>(job, {}, coded, stream)
                 : launch_tiles<Layout, false, false>(job, {}, coded, stream);
  }
  return tiles ? launch_row_tiles<Layout>(job, coded, stream) : launch_rows<Layout>(job, coded, stream);
}

/// Grids and distances have room for these; more goes the general road.
bool fits_grid(const MatrixShape& shape) {
  return shape.batch <= 65535 && shape.rows < most_extent && shape.columns < most_extent;
}

}  // namespace

bool takes_mx_packed(const QuantizeJob& job, const Coded& coded) {
  const MatrixShape& shape = job.shape;
  const BlockShape blocks = job.profile.block;
  if (!takes_profile(job) || !are_aligned(coded) || blocks.cols != block) return false;
  if (blocks == BlockShape{block, block}) {
    return fits_grid(shape) && shape.rows % block == 0 && shape.columns % block == 0;
  }
  if (blocks.rows != 1) return false;
  if (shape.axis == 0) return fits_grid(shape) && shape.rows % block == 0 && shape.columns % 8 == 0;
  return shape.columns % (job.scale_layout == ScaleLayout::row_major ? block : 4 * block) == 0;
}

Status quantize_mx_packed(const QuantizeJob& job, const Coded& coded, cudaStream_t stream) {
  return job.scale_layout == ScaleLayout::row_major ? launch<ScaleLayout::row_major>(job, coded, stream)
                                                    : launch<ScaleLayout::tiled_128x4>(job, coded, stream);
}

bool takes_both_axes_mx_packed(const QuantizeJob& job, const Coded& along_columns, const Coded& along_rows) {
  return takes_profile(job) && are_aligned(along_columns) && are_aligned(along_rows) && fits_grid(job.shape) &&
         job.profile.block == BlockShape{1, block} && job.shape.rows % block == 0 && job.shape.columns % block == 0;
}

Status quantize_both_axes_mx_packed(const QuantizeJob& job, const Coded& along_columns, const Coded& along_rows,
                                    cudaStream_t stream) {
  return job.scale_layout == ScaleLayout::row_major
             ? launch_tiles<ScaleLayout::row_major, true, false>(job, along_columns, along_rows, stream)
             : launch_tiles<ScaleLayout::tiled_128x4, true, false>(job, along_columns, along_rows, stream);
}

}  // namespace fp4proof::gpu
