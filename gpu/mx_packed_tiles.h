#pragma once
// MXFP4 along the rows, or along both axes in one pass: tiles of the matrix go through shared memory, where lanes read
// them in either direction.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gpu/mx_packed_columns.h"
#include "gpu/mx_packed_lanes.h"
#include "gpu/mx_packed_task.h"

namespace fp4proof::gpu::mx_packed {

inline constexpr std::uint32_t tile_extent = 128;
inline constexpr std::uint32_t tile_threads = 256;

/// Two tiles, one below the other. The results of their columns take the place of the first, which has been read by
/// then.
struct TileStage {
  static constexpr std::uint32_t across = tile_extent / columns_per_warp;
  static constexpr std::uint32_t down = tile_extent / block;
  static constexpr std::uint32_t pieces = tile_extent / 8;  // 16-byte pieces of a row
  using Raw = uint4[tile_extent][pieces];
  using Columns = ColumnStage<across, 2 * down, tile_threads>;
  Raw raw[2];

  __device__ Columns& columns() { return *reinterpret_cast<Columns*>(raw[0]); }
};
static_assert(sizeof(TileStage::Columns) <= sizeof(TileStage::Raw));

__device__ inline void copy_piece(std::uint32_t to, const void* from, std::uint64_t policy) {
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "l"(policy)
               : "memory");
}

/// Puts the tile on its way; zeros where the matrix ends.
__device__ inline void fetch(const Task& task, const Tile& tile, TileStage::Raw& raw, std::uint64_t policy) {
  constexpr std::uint32_t rows_per_load = tile_threads / TileStage::pieces;
  constexpr std::uint32_t loads = tile_extent / rows_per_load;
  const std::uint32_t piece = threadIdx.x % TileStage::pieces;
  const std::uint32_t row = threadIdx.x / TileStage::pieces;
  const std::int64_t pitch = task.columns * 2;
  const std::uint8_t* from = input_at(task, tile) + row * pitch + piece * 16;
  const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(&raw[row][piece]));
  if (tile.whole) {
#pragma unroll
    for (std::uint32_t i = 0; i < loads; ++i) {
      copy_piece(to + i * rows_per_load * TileStage::pieces * 16, from, policy);
      from += rows_per_load * pitch;
    }
  } else {
#pragma unroll 1
    for (std::uint32_t i = 0; i < loads; ++i) {
      const bool inside = tile.column + piece * 8 < task.columns && tile.row + row + i * rows_per_load < task.rows;
      if (inside) {
        copy_piece(to + i * rows_per_load * TileStage::pieces * 16, from, policy);
      } else {
        raw[row + i * rows_per_load][piece] = uint4{0, 0, 0, 0};
      }
      from += rows_per_load * pitch;
    }
  }
}

template <ScaleLayout Layout, bool Whole>
__device__ inline void quantize_rows_of_tile(const Task& task, const Target& to, const Tile& tile,
                                             const TileStage::Raw& raw) {
  constexpr std::uint32_t rows_per_load = tile_threads / TileStage::pieces;
  constexpr std::uint32_t loads = tile_extent / rows_per_load;
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t piece = threadIdx.x % TileStage::pieces;
  const std::uint32_t row = threadIdx.x / TileStage::pieces;
  const std::int64_t step = task.columns / 2 * rows_per_load;
  std::uint8_t* codes = codes_at(task, to, tile) + row * (task.columns / 2) + piece * 4;
  const ScaleWords<Layout> scale_words(to, tile.matrix, tile.row, tile.column / block);
  const bool inside_across = Whole || tile.column + piece * 8 < task.columns;
#pragma unroll
  for (std::uint32_t chunk = 0; chunk < loads; chunk += 4) {
    uint4 words[4];
#pragma unroll
    for (std::uint32_t i = 0; i < 4; ++i) words[i] = raw[row + (chunk + i) * rows_per_load][piece];
    ScalePair scales[2];
#pragma unroll
    for (std::uint32_t pair = 0; pair < 2; ++pair) {
      scales[pair] = scale_pair(largest_pair(words[2 * pair], words[2 * pair + 1]), task.rule);
#pragma unroll
      for (std::uint32_t which = 0; which < 2; ++which) {
        const std::uint32_t i = 2 * pair + which;
        const std::uint32_t line = row + (chunk + i) * rows_per_load;
        const std::uint32_t eight = eight_codes(words[i], scales[pair], which);
        if (Whole || (inside_across && tile.row + line < task.rows)) store_stream(codes, 0, eight);
        codes += step;
      }
    }
    const std::uint32_t bytes = transposed_bytes(scale_bytes_of(scales[0], scales[1]), lane);
    if (lane % lanes_per_block == 0) {
      scale_words.template store<Whole>(row + (chunk + lane / lanes_per_block % 4) * rows_per_load, 0, bytes);
    }
  }
}

/// The codes and scales of the columns of 32 rows, of a tile in shared memory.
template <bool Tiles>
__device__ inline ColumnBlocks quantize_columns_of_tile(const Task& task, const TileStage::Raw& raw,
                                                        std::uint32_t across, std::uint32_t down) {
  const auto* column = reinterpret_cast<const std::uint32_t*>(raw[down * block]) + across * 32 + threadIdx.x % 32;
  std::uint32_t words[block];
#pragma unroll
  for (int i = 0; i < block; ++i) words[i] = column[i * (TileStage::pieces * 4)];
  return quantize_columns<Tiles>(words, task.rule);
}

/// Thread blocks take two tiles: the second is on its way while the first is quantized. Tiles: blocks are 32 x 32.
/// AlongColumns: quantizes along the columns, too.
template <ScaleLayout Layout, bool AlongColumns, bool Tiles>
__global__ void __launch_bounds__(tile_threads, 3)
    quantize_tiles(Task task, Target along_columns, Target along_rows, unsigned log2_band) {
  extern __shared__ __align__(16) std::uint8_t memory[];
  auto& stage = *reinterpret_cast<TileStage*>(memory);
  std::uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  const Tile pair = tile_of_block<tile_extent, 2 * tile_extent>(task, log2_band);
  if (pair.column >= task.columns) return;
  const auto tile_of_turn = [&](int turn) {
    const std::int64_t row = pair.row + turn * tile_extent;
    const bool whole = row + tile_extent <= task.rows && pair.column + tile_extent <= task.columns;
    return Tile{pair.matrix, row, pair.column, whole};
  };
#pragma unroll
  for (int turn = 0; turn < 2; ++turn) {
    fetch(task, tile_of_turn(turn), stage.raw[turn], policy);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  const std::uint32_t lane = threadIdx.x % 32;
  const std::uint32_t across = threadIdx.x / 32 % TileStage::across;
  const std::uint32_t down = threadIdx.x / 32 / TileStage::across;
  asm volatile("cp.async.wait_group 1;" ::: "memory");
#pragma unroll 1
  for (int turn = 0; turn < 2; ++turn) {
    __syncthreads();
    if constexpr (AlongColumns) {
      const Tile tile = tile_of_turn(turn);
      if (tile.whole && along_columns.blocks % 4 == 0) {
        quantize_rows_of_tile<Layout, true>(task, along_columns, tile, stage.raw[turn]);
      } else {
        quantize_rows_of_tile<Layout, false>(task, along_columns, tile, stage.raw[turn]);
      }
    }
    const ColumnBlocks blocks = quantize_columns_of_tile<Tiles>(task, stage.raw[turn], across, down);
    if (turn == 0) {
      asm volatile("cp.async.wait_group 0;" ::: "memory");
      __syncthreads();  // the first tile has been read
    }
    stage.columns().put(across, turn * TileStage::down + down, lane, blocks);
  }
  __syncthreads();
  if (pair.whole && along_rows.blocks % 4 == 0) {
    stage.columns().template store<Layout, true>(along_rows, pair);
  } else {
    stage.columns().template store<Layout, false>(along_rows, pair);
  }
}

}  // namespace fp4proof::gpu::mx_packed
