#pragma once
// HiF4 groups of bfloat16 along the columns, in the lanes of a warp: eight neighbouring lanes hold two groups, eight
// elements of each. The matrix is one string of groups.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gpu/e2m1_packed.h"
#include "gpu/s1p2_packed.h"

namespace fp4proof::gpu::hif4_packed {

inline constexpr unsigned all_lanes = 0xFFFFFFFFU;
inline constexpr int group = 64;
inline constexpr int piece = 8;  ///< elements of a 16-byte load: those of one level-2 bit
inline constexpr int lanes_per_group = group / piece;
inline constexpr int groups_per_pair = 2 * 32 / lanes_per_group;  ///< of a warp: a lane holds parts of two groups
inline constexpr std::uint32_t level_step = both_halves(0x80U);   ///< a level in the exponent of a bfloat16 word

/// The largest magnitudes of the four lower and the four upper elements: those of the two level-3 bits.
__device__ inline std::uint32_t largest_of_fours(const uint4& words) {
  const std::uint32_t lower = packed_larger_magnitude_bf16(words.x, words.y);
  const std::uint32_t upper = packed_larger_magnitude_bf16(words.z, words.w);
  return packed_magnitude(packed_larger_magnitude_bf16(permuted_bytes(lower, upper, 0x5410U),  //
                                                       permuted_bytes(lower, upper, 0x7632U)));
}

/// All ones where the top bit of the lower (0) or the upper (1) half is set.
__device__ inline std::uint32_t sign_of_half(std::uint32_t halves, int which) {
  return permuted_bytes(halves, 0, which == 0 ? 0x9999U : 0xBBBBU);
}

/// Eight elements. `reciprocals`: of the four lower elements in the lower half, the levels taken off.
__device__ inline std::uint32_t eight_codes(const uint4& words, std::uint32_t reciprocals, std::uint32_t tie_breaks) {
  const std::uint32_t lower = packed_half(reciprocals, 0);
  const std::uint32_t upper = packed_half(reciprocals, 1);
  return gathered_top_bytes(packed_s1p2(words.x, lower, tie_breaks), packed_s1p2(words.y, lower, tie_breaks),
                            packed_s1p2(words.z, upper, tie_breaks), packed_s1p2(words.w, upper, tie_breaks));
}

/// Where a lane's level bits stand in the scale word of its group.
struct LevelBits {
  std::uint32_t lower;  ///< the level-2 bit, and the level-3 bit of the four lower elements
  std::uint32_t upper;  ///< the level-3 bit of the four upper elements

  __device__ explicit LevelBits(int place)
      : lower((0x100U << place) | (0x10000U << 2 * place)), upper(0x20000U << 2 * place) {}

  /// Of one (0) or the other (1) of two groups; `level3` has the four lower elements in the lower half.
  __device__ std::uint32_t of(std::uint32_t level2, std::uint32_t level3, int which) const {
    const std::uint32_t spread = permuted_bytes(level3, level2, which == 0 ? 0x1040U : 0x1060U);
    return (spread & lower) | (level3 & upper);
  }
};

/// Two groups, of which eight neighbouring lanes hold eight elements each.
struct PairOfGroups {
  std::uint32_t codes[2];  ///< eight each
  std::uint32_t word;      ///< the scale word of the first group in lanes 0..3, of the second one in lanes 4..7
  std::uint32_t units[2];  ///< what codes of 1 stand for: the four lower elements in the lower half
  std::uint32_t amax;      ///< of the first group in the lower half
};

/// The bfloat16 words of two E6M2 scales.
__device__ inline std::uint32_t packed_e6m2_units(std::uint32_t codes) {
  return both_halves((127U - e6m2_bias) << 7) + codes * 32U;
}

__device__ inline PairOfGroups quantize_pair(const uint4& first, const uint4& second, int lane) {
  const std::uint32_t fours[2] = {largest_of_fours(first), largest_of_fours(second)};
  const std::uint32_t eights = packed_max_u16(permuted_bytes(fours[0], fours[1], 0x5410U),  //
                                              permuted_bytes(fours[0], fours[1], 0x7632U));
  std::uint32_t amax = eights;
#pragma unroll
  for (int distance = 1; distance < lanes_per_group; distance *= 2) {
    amax = packed_max_u16(amax, __shfl_xor_sync(all_lanes, amax, distance));
  }
  const PackedHif4Scales scales = packed_hif4_scales(packed_e6m2_codes(amax));
  const std::uint32_t not_finite = packed_not_finite(amax);
  const std::uint32_t level2 = packed_hif4_level2(eights, scales);
  const std::uint32_t thresholds = packed_hif4_level3_threshold(scales, level2);
  const std::uint32_t under_level2 = packed_halved(scales.reciprocals, level2);

  PairOfGroups out;
  out.amax = amax;
  std::uint32_t bits[2];
  const LevelBits places(lane % lanes_per_group);
#pragma unroll
  for (int which = 0; which < 2; ++which) {
    const uint4& words = which == 0 ? first : second;
    const std::uint32_t level3 = packed_at_least_bf16(fours[which], packed_half(thresholds, which));
    const std::uint32_t reciprocals = packed_halved(packed_half(under_level2, which), level3);
    const std::uint32_t ties = packed_half(scales.tie_breaks, which);
    out.codes[which] = eight_codes(words, reciprocals, ties) & ~sign_of_half(not_finite, which);
    const std::uint32_t both_levels = (packed_half(level2, which) & level_step) + (level3 & level_step);
    out.units[which] = packed_half(packed_e6m2_units(scales.codes), which) + both_levels;
    bits[which] = places.of(level2, level3, which);
  }
  const bool is_second = (lane & lanes_per_group / 2) != 0;
  const std::uint32_t given = is_second ? bits[0] : bits[1];
  std::uint32_t word = is_second ? bits[1] : bits[0];
  word |= __shfl_xor_sync(all_lanes, given, 4);
  word |= __shfl_xor_sync(all_lanes, word, 2);
  word |= __shfl_xor_sync(all_lanes, word, 1);
  word |= permuted_bytes(scales.codes, 0, is_second ? 0x4442U : 0x4440U);
  const std::uint32_t spoiled = permuted_bytes(not_finite, 0, is_second ? 0xBBBBU : 0x9999U);
  out.word = (word & ~spoiled) | (spoiled & e6m2_nan);
  return out;
}

/// Which group of the pair a lane has the scale word of, where its place is among those of the pairs of a warp, and
/// whether it is the one of its equals that stores it.
__device__ inline int written_group(int lane) { return lane / (lanes_per_group / 2) % 2; }
__device__ inline int place_of_written(int lane) {
  return written_group(lane) * (32 / lanes_per_group) + lane / lanes_per_group;
}
__device__ inline bool writes_word(int lane) { return lane % (lanes_per_group / 2) == 0; }

}  // namespace fp4proof::gpu::hif4_packed
