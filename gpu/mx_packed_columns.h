#pragma once
// MX blocks of bfloat16 along the rows: a lane holds 32 rows of two columns, and needs no other lane.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gpu/mx_packed_lanes.h"
#include "gpu/mx_packed_task.h"

namespace fp4proof::gpu::mx_packed {

inline constexpr int columns_per_warp = 64;

/// Codes of a block in each of two columns, and its scales.
struct ColumnBlocks {
  uint4 codes[2];
  std::uint32_t scales;  // in the low byte of each half
};

template <bool Tiles>
__device__ inline ColumnBlocks quantize_columns(const std::uint32_t (&words)[block], const PackedScaleRule& rule) {
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
  const std::uint32_t kept = permuted_bytes(~scales.not_finite, 0, 0xBB99U);
  std::uint32_t fours[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) fours[i] = packed_e2m1_rows(words + 4 * i, scales.inverse, kept);

  ColumnBlocks out;
  out.scales = packed_marked_codes(scales.codes, scales.not_finite);
#pragma unroll
  for (int column = 0; column < 2; ++column) {
    const std::uint32_t selector = column == 0 ? 0x5410U : 0x7632U;
    out.codes[column] = {permuted_bytes(fours[0], fours[1], selector), permuted_bytes(fours[2], fours[3], selector),
                         permuted_bytes(fours[4], fours[5], selector), permuted_bytes(fours[6], fours[7], selector)};
  }
  return out;
}

/// Results of a thread block of Across x Down pieces of 64 columns x 32 rows, in shared memory, so that the code lines
/// (columns of the input) leave in pieces of 16 * Down bytes. Even and odd columns have a plane each, and a line one
/// unit more than it needs: no two lanes that write together meet in a bank.
template <int Across, int Down, int Threads>
struct ColumnStage {
  static constexpr int lines = Across * columns_per_warp;
  uint4 codes[2][lines / 2][Down + 1];
  std::uint8_t scales[lines][Down];

  __device__ void put(int across, int down, int lane, const ColumnBlocks& blocks) {
    const int pair = across * 32 + lane;
#pragma unroll
    for (int column = 0; column < 2; ++column) codes[column][pair][down] = blocks.codes[column];
    scales[2 * pair][down] = static_cast<std::uint8_t>(blocks.scales);
    scales[2 * pair + 1][down] = static_cast<std::uint8_t>(blocks.scales >> 16);
  }

  /// By all threads, after a barrier.
  template <ScaleLayout Layout, bool Whole>
  __device__ void store(const Target& to, const Tile& tile) const {
    const auto thread = static_cast<std::uint32_t>(threadIdx.x);
    const std::int64_t index = tile.row / block;
    const auto line_bytes = static_cast<std::uint32_t>(to.blocks) * 16;
    std::uint8_t* const base = to.codes + ((tile.matrix * to.lines + tile.column) * to.blocks + index) * 16;
    const std::uint32_t unit = thread % Down;
#pragma unroll
    for (std::uint32_t i = 0; i < lines * Down / Threads; ++i) {
      const std::uint32_t line = thread / Down + i * (Threads / Down);
      if (Whole || (tile.column + line < to.lines && index + unit < to.blocks)) {
        store_stream(base, line * line_bytes + unit * 16, codes[line % 2][line / 2][unit]);
      }
    }
    constexpr std::uint32_t words = Down / 4;
    static_assert(words * 4 == Down && lines * words <= Threads);
    if (thread < lines * words) {
      const std::uint32_t line = thread / words;
      const std::uint32_t word = thread % words;
      const auto four = *reinterpret_cast<const std::uint32_t*>(&scales[line][4 * word]);
      ScaleWords<Layout>(to, tile.matrix, tile.column, index).template store<Whole>(line, word, four);
    }
  }
};

}  // namespace fp4proof::gpu::mx_packed
