#include "gpu/hif4_tiles.h"

#include <cstdint>

#include "gpu/hif4_packed_lanes.h"
#include "gpu/launch.h"

namespace fp4proof::gpu {

namespace {

using namespace hif4_packed;

__device__ std::uint32_t larger_of_lanes(std::uint32_t halves, int distance) {
  return packed_max_u16(halves, __shfl_xor_sync(all_lanes, halves, distance));
}

// ---------------------------------------------------------------------------------------------------------------------
// 64 x 64 tiles, lines along the columns: a warp holds a tile, eight neighbouring lanes 16 rows of it
// ---------------------------------------------------------------------------------------------------------------------

constexpr int rows_per_lane = 16;
constexpr int bands = rows_per_lane / 4;  ///< of four rows that share level-3 bits

/// The matrices of a batch one above the other. Thread blocks stand over several tiles side by side.
struct Tiling {
  std::int64_t columns;
  std::int64_t tiles_across;
  std::uint32_t blocks_across;
};

/// Lanes that differ in `distance` share two words: the one where that bit of the lane is set keeps the second, or'ed
/// with the other lane's.
__device__ std::uint32_t shared_bits(std::uint32_t first, std::uint32_t second, int lane, int distance) {
  const bool is_second = (lane & distance) != 0;
  const std::uint32_t received = __shfl_xor_sync(all_lanes, is_second ? first : second, distance);
  return (is_second ? second : first) | received;
}

template <int Warps>
__global__ void __launch_bounds__(Warps * 32)
    quantize_tiles(const uint4* input, std::uint32_t* codes, std::uint32_t* scale_words, Tiling tiling) {
  __shared__ std::uint32_t shared_words[group][Warps];
  const auto thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  const int lane = thread % 32;
  const std::int64_t down = blockIdx.x / tiling.blocks_across;
  const std::int64_t across = std::int64_t{blockIdx.x % tiling.blocks_across} * Warps;
  const std::int64_t pitch = tiling.columns / piece;
  const int row = lane / lanes_per_group * rows_per_lane;
  const std::int64_t first = (down * group + row) * pitch + (across + warp) * lanes_per_group + lane % lanes_per_group;
  const bool inside = across + warp < tiling.tiles_across;
  uint4 words[rows_per_lane];
#pragma unroll
  for (int i = 0; i < rows_per_lane; ++i) words[i] = inside ? __ldcs(input + first + i * pitch) : uint4{0, 0, 0, 0};

  std::uint32_t fours[bands] = {};
#pragma unroll
  for (int i = 0; i < rows_per_lane; ++i) fours[i / 4] = packed_max_u16(fours[i / 4], largest_of_fours(words[i]));
  const std::uint32_t upper = packed_max_u16(fours[0], fours[1]);
  const std::uint32_t lower = packed_max_u16(fours[2], fours[3]);
  const std::uint32_t eights =
      packed_max_u16(permuted_bytes(upper, lower, 0x5410U), permuted_bytes(upper, lower, 0x7632U));
  std::uint32_t amax = packed_max_u16(eights, permuted_bytes(eights, 0, 0x1032U));
#pragma unroll
  for (int distance = 1; distance < 32; distance *= 2) amax = larger_of_lanes(amax, distance);
  const PackedHif4Scales scales = packed_hif4_scales(packed_e6m2_codes(amax));
  const std::uint32_t level2 = packed_hif4_level2(eights, scales);
  const std::uint32_t thresholds = packed_hif4_level3_threshold(scales, level2);
  const std::uint32_t under_level2 = packed_halved(scales.reciprocals, level2);
  const std::uint32_t spoiled = sign_of_half(packed_not_finite(amax), 0);

  std::uint32_t bits[bands];
  const LevelBits places(lane % lanes_per_group);
#pragma unroll
  for (int band = 0; band < bands; ++band) {
    const int which = band / 2;
    const std::uint32_t level3 = packed_at_least_bf16(fours[band], packed_half(thresholds, which));
    const std::uint32_t reciprocals = packed_halved(packed_half(under_level2, which), level3);
    bits[band] = places.of(level2, level3, which);
#pragma unroll
    for (int i = 4 * band; i < 4 * band + 4; ++i) {
      const std::uint32_t eight = eight_codes(words[i], reciprocals, scales.tie_breaks) & ~spoiled;
      if (inside) __stcs(codes + first + i * pitch, eight);
    }
  }
  std::uint32_t word =
      shared_bits(shared_bits(bits[0], bits[2], lane, 4), shared_bits(bits[1], bits[3], lane, 4), lane, 2);
  word |= __shfl_xor_sync(all_lanes, word, 1);
  word = ((word | (scales.codes & 0xFFU)) & ~spoiled) | (spoiled & e6m2_nan);
  const int first_row = row + lane % lanes_per_group * 2;  // lanes 2b and 2b + 1 of eight have the word of band b
  shared_words[first_row][warp] = word;
  shared_words[first_row + 1][warp] = word;
  __syncthreads();
#pragma unroll
  for (int i = thread; i < group * Warps; i += Warps * 32) {
    const std::int64_t column = across + i % Warps;
    if (column < tiling.tiles_across) {
      scale_words[(down * group + i / Warps) * tiling.tiles_across + column] = shared_words[i / Warps][i % Warps];
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Groups along the rows: a lane holds the groups of two neighbouring columns
// ---------------------------------------------------------------------------------------------------------------------

constexpr int columns_per_warp = 64;
constexpr int units_per_group = 2;  ///< of 16 bytes of codes

struct ColumnTiling {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t groups;  ///< of a column
  std::uint32_t blocks_across;
  std::uint32_t blocks_down;
};

/// Codes and scale words of the groups of two columns.
struct ColumnGroups {
  uint4 codes[2][units_per_group];
  std::uint32_t scale_words[2];
};

__device__ ColumnGroups quantize_columns(const std::uint32_t (&words)[group]) {
  constexpr int fours_per_group = group / 4;
  std::uint32_t fours[fours_per_group];
  std::uint32_t amax = 0;
#pragma unroll
  for (int i = 0; i < fours_per_group; ++i) {
    const std::uint32_t* four = words + 4 * i;
    fours[i] = packed_magnitude(packed_larger_magnitude_bf16(packed_larger_magnitude_bf16(four[0], four[1]),
                                                             packed_larger_magnitude_bf16(four[2], four[3])));
    amax = packed_max_u16(amax, fours[i]);
  }
  const PackedHif4Scales scales = packed_hif4_scales(packed_e6m2_codes(amax));

  std::uint32_t level2_bits = 0;  // of the lower column in the lower half
  std::uint32_t level3_bits = 0;
  std::uint32_t codes[fours_per_group];
#pragma unroll
  for (int i = 0; i < fours_per_group / 2; ++i) {
    const std::uint32_t level2 = packed_hif4_level2(packed_max_u16(fours[2 * i], fours[2 * i + 1]), scales);
    const std::uint32_t threshold = packed_hif4_level3_threshold(scales, level2);
    level2_bits |= level2 & both_halves(1U << i);
#pragma unroll
    for (int k = 2 * i; k < 2 * i + 2; ++k) {
      const std::uint32_t level3 = packed_at_least_bf16(fours[k], threshold);
      level3_bits |= level3 & both_halves(1U << k);
      const std::uint32_t reciprocals = packed_halved(packed_halved(scales.reciprocals, level2), level3);
      codes[k] = packed_s1p2_rows(words + 4 * k, reciprocals, scales.tie_breaks);
    }
  }
  ColumnGroups out;
  const std::uint32_t not_finite = packed_not_finite(amax);
#pragma unroll
  for (int column = 0; column < 2; ++column) {
    const std::uint32_t selector = column == 0 ? 0x5410U : 0x7632U;
    const std::uint32_t spoiled = sign_of_half(not_finite, column);
#pragma unroll
    for (int unit = 0; unit < units_per_group; ++unit) {
      const std::uint32_t* of_unit = codes + 8 * unit;
      const auto eight = [&](int i) { return permuted_bytes(of_unit[i], of_unit[i + 1], selector) & ~spoiled; };
      out.codes[column][unit] = {eight(0), eight(2), eight(4), eight(6)};
    }
    const std::uint32_t word = permuted_bytes(scales.codes | level2_bits << 8, level3_bits, selector);
    out.scale_words[column] = (word & ~spoiled) | (spoiled & e6m2_nan);
  }
  return out;
}

/// A thread block takes 64 columns and `Warps` groups of each. Results pass through shared memory, so that the lines of
/// the quantized matrix leave in pieces of 32 * Warps bytes; even and odd columns have a plane each, and a line one
/// unit more than it needs: no two lanes that write together meet in a bank.
template <int Warps>
__global__ void __launch_bounds__(Warps * 32)
    quantize_column_groups(const std::uint32_t* input, uint4* codes, std::uint32_t* scale_words, ColumnTiling tiling) {
  constexpr int units = Warps * units_per_group;
  __shared__ uint4 shared_codes[2][columns_per_warp / 2][units + 1];
  __shared__ std::uint32_t shared_words[2][columns_per_warp / 2][Warps + 1];
  const auto thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  const int lane = thread % 32;
  const std::uint32_t row_of_blocks = blockIdx.x / tiling.blocks_across;
  const std::int64_t matrix = row_of_blocks / tiling.blocks_down;
  const std::int64_t index = std::int64_t{row_of_blocks % tiling.blocks_down} * Warps;
  const std::int64_t line = std::int64_t{blockIdx.x % tiling.blocks_across} * columns_per_warp;
  const std::int64_t pitch = tiling.columns / 2;
  const bool inside = line + 2 * lane < tiling.columns && index + warp < tiling.groups;
  const std::uint32_t* pairs = input + (matrix * tiling.rows + (index + warp) * group) * pitch + line / 2 + lane;
  std::uint32_t words[group] = {};
  if (inside) {
#pragma unroll
    for (int i = 0; i < group; ++i, pairs += pitch) words[i] = __ldcs(pairs);
  }
  const ColumnGroups out = quantize_columns(words);
#pragma unroll
  for (int column = 0; column < 2; ++column) {
#pragma unroll
    for (int unit = 0; unit < units_per_group; ++unit) {
      shared_codes[column][lane][warp * units_per_group + unit] = out.codes[column][unit];
    }
    shared_words[column][lane][warp] = out.scale_words[column];
  }
  __syncthreads();
  const std::int64_t first_line = matrix * tiling.columns + line;
  const auto lines = static_cast<int>(min(tiling.columns - line, std::int64_t{columns_per_warp}));
  const auto groups = static_cast<int>(min(tiling.groups - index, std::int64_t{Warps}));
  uint4* block_codes = codes + (first_line * tiling.groups + index) * units_per_group;
#pragma unroll
  for (int i = thread; i < columns_per_warp * units; i += Warps * 32) {
    const int l = i / units;
    const int unit = i % units;
    if (l < lines && unit < groups * units_per_group) {
      __stcs(block_codes + l * tiling.groups * units_per_group + unit, shared_codes[l % 2][l / 2][unit]);
    }
  }
  std::uint32_t* block_words = scale_words + first_line * tiling.groups + index;
#pragma unroll
  for (int i = thread; i < columns_per_warp * Warps; i += Warps * 32) {
    const int l = i / Warps;
    if (l < lines && i % Warps < groups) {
      block_words[l * tiling.groups + i % Warps] = shared_words[l % 2][l / 2][i % Warps];
    }
  }
}

}  // namespace

Status quantize_hif4_tiles(const QuantizeJob& job, const Coded& coded, cudaStream_t stream) {
  constexpr int warps = 8;
  const std::int64_t across = job.shape.columns / group;
  const Tiling tiling{job.shape.columns, across, static_cast<std::uint32_t>(ceil_div(across, warps))};
  const std::int64_t down = job.shape.batch * job.shape.rows / group;
  quantize_tiles<warps><<<static_cast<unsigned>(down * tiling.blocks_across), warps * 32, 0, stream>>>(
      static_cast<const uint4*>(job.input), reinterpret_cast<std::uint32_t*>(coded.codes),
      reinterpret_cast<std::uint32_t*>(coded.scales), tiling);
  return launch_status();
}

Status quantize_hif4_columns(const QuantizeJob& job, const Coded& coded, cudaStream_t stream) {
  constexpr int warps = 4;
  const std::int64_t groups = job.shape.rows / group;
  const ColumnTiling tiling{job.shape.rows, job.shape.columns, groups,
                            static_cast<std::uint32_t>(ceil_div(job.shape.columns, columns_per_warp)),
                            static_cast<std::uint32_t>(ceil_div(groups, warps))};
  const std::int64_t blocks = job.shape.batch * tiling.blocks_across * tiling.blocks_down;
  quantize_column_groups<warps><<<static_cast<unsigned>(blocks), warps * 32, 0, stream>>>(
      static_cast<const std::uint32_t*>(job.input), reinterpret_cast<uint4*>(coded.codes),
      reinterpret_cast<std::uint32_t*>(coded.scales), tiling);
  return launch_status();
}

}  // namespace fp4proof::gpu
