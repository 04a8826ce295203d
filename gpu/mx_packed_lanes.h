#pragma once
// MX blocks of bfloat16 along the columns, in the lanes of a warp: four neighbouring lanes hold a block, eight elements
// each. The matrix is one string of blocks.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gpu/e2m1_packed.h"

namespace fp4proof::gpu::mx_packed {

inline constexpr int block = 32;  ///< elements along the block axis, and lines of a 2D tile
inline constexpr unsigned all_lanes = 0xFFFFFFFFU;
inline constexpr int lanes_per_block = 4;

__device__ inline std::uint32_t larger_of_lanes(std::uint32_t halves, int distance) {
  return packed_max_u16(halves, __shfl_xor_sync(all_lanes, halves, distance));
}

/// The largest magnitudes of the even and the odd elements.
__device__ inline std::uint32_t largest(const uint4& words) {
  return packed_magnitude(packed_larger_magnitude_bf16(packed_larger_magnitude_bf16(words.x, words.y),
                                                       packed_larger_magnitude_bf16(words.z, words.w)));
}

/// The scales of the two blocks that a lane has a part of.
struct ScalePair {
  std::uint32_t codes;  // before packed_marked_codes()
  std::uint32_t inverse;
  std::uint32_t not_finite;
};

__device__ inline ScalePair scale_pair(std::uint32_t amax, const PackedScaleRule& rule) {
  const std::uint32_t codes = packed_scale_codes(amax, rule);
  return {codes, packed_inverse_scales(codes), packed_not_finite(amax)};
}

/// The largest magnitudes of two blocks along the columns.
__device__ inline std::uint32_t largest_pair(const uint4& first, const uint4& second) {
  const std::uint32_t a = largest(first);
  const std::uint32_t b = largest(second);
  const std::uint32_t amax = packed_max_u16(permuted_bytes(a, b, 0x5410U), permuted_bytes(a, b, 0x7632U));
  return larger_of_lanes(larger_of_lanes(amax, 1), 2);
}

/// The lower (0) or upper (1) half in both halves, and all ones where the top bit of that half is set.
__device__ inline std::uint32_t half_of(std::uint32_t halves, int which) {
  return permuted_bytes(halves, 0, which == 0 ? 0x1010U : 0x3232U);
}
__device__ inline std::uint32_t sign_of_half(std::uint32_t halves, int which) {
  return permuted_bytes(halves, 0, which == 0 ? 0x9999U : 0xBBBBU);
}

__device__ inline std::uint32_t eight_codes(const uint4& words, const ScalePair& scales, int which) {
  const std::uint32_t inverse = half_of(scales.inverse, which);
  return gathered_top_bytes(packed_e2m1(words.x, inverse), packed_e2m1(words.y, inverse), packed_e2m1(words.z, inverse),
                            packed_e2m1(words.w, inverse)) &
         ~sign_of_half(scales.not_finite, which);
}

/// Four scale codes as bytes, from two pairs.
__device__ inline std::uint32_t scale_bytes_of(const ScalePair& first, const ScalePair& second) {
  return permuted_bytes(first.codes, second.codes, 0x6420U) |
         permuted_bytes(first.not_finite, second.not_finite, 0xFDB9U);
}

/// Four groups of four lanes hold a 4 x 4 matrix of bytes, a row each (all lanes of a group the same): transposes it.
/// Afterwards group g of the four holds byte g of every group.
__device__ inline std::uint32_t transposed_bytes(std::uint32_t bytes, int lane) {
  const bool odd = (lane & lanes_per_block) != 0;
  bytes = permuted_bytes(bytes, __shfl_xor_sync(all_lanes, bytes, lanes_per_block), odd ? 0x3715U : 0x6240U);
  const bool high = (lane & 2 * lanes_per_block) != 0;
  return permuted_bytes(bytes, __shfl_xor_sync(all_lanes, bytes, 2 * lanes_per_block), high ? 0x3276U : 0x5410U);
}

/// 16-byte loads of a lane that make one store of scales: 4 x 32 lanes are 32 blocks.
inline constexpr int loads_per_chunk = 4;
inline constexpr int pieces_per_chunk = loads_per_chunk * 32;
inline constexpr int scales_per_chunk = pieces_per_chunk / lanes_per_block;

/// The first of the four scales that a lane holds after transposed_bytes(), in its chunk.
__device__ inline int first_scale_of_lane(int lane) {
  const int load = lane / lanes_per_block % 4;  // whose scales these are, of four of the eight groups
  return load * 8 + lane / 16 * 4;
}

/// Stores four scales of a string of `count`, or those of them that it has.
__device__ inline void store_four_of_string(std::uint8_t* scales, std::int64_t index, std::int64_t count,
                                            std::uint32_t codes) {
  if (index + 4 <= count) {
    *reinterpret_cast<std::uint32_t*>(scales + index) = codes;
  } else {
    for (int i = 0; index + i < count; ++i) scales[index + i] = static_cast<std::uint8_t>(codes >> (8 * i));
  }
}

}  // namespace fp4proof::gpu::mx_packed
