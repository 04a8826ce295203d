#include "gpu/hif4_packed.h"

#include <cstdint>

#include "gpu/e2m1_packed.h"
#include "gpu/launch.h"
#include "gpu/s1p2_packed.h"

namespace fp4proof::gpu {

namespace {

constexpr unsigned all_lanes = 0xFFFFFFFFU;
constexpr int group = 64;
constexpr int piece = 8;  ///< elements of a 16-byte load: those of one level-2 bit
constexpr int lanes_per_group = group / piece;

/// The largest magnitudes of the four lower and the four upper elements: those of the two level-3 bits.
__device__ std::uint32_t largest_of_fours(const uint4& words) {
  const std::uint32_t lower = packed_larger_magnitude_bf16(words.x, words.y);
  const std::uint32_t upper = packed_larger_magnitude_bf16(words.z, words.w);
  return packed_magnitude(packed_larger_magnitude_bf16(permuted_bytes(lower, upper, 0x5410U),  //
                                                       permuted_bytes(lower, upper, 0x7632U)));
}

/// All ones where the top bit of the lower (0) or the upper (1) half is set.
__device__ std::uint32_t sign_of_half(std::uint32_t halves, int which) {
  return permuted_bytes(halves, 0, which == 0 ? 0x9999U : 0xBBBBU);
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
};

__device__ PairOfGroups quantize_pair(const uint4& first, const uint4& second, int lane) {
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
  std::uint32_t bits[2];
  const LevelBits places(lane % lanes_per_group);
#pragma unroll
  for (int which = 0; which < 2; ++which) {
    const uint4& words = which == 0 ? first : second;
    const std::uint32_t level3 = packed_at_least_bf16(fours[which], packed_half(thresholds, which));
    const std::uint32_t reciprocals = packed_halved(packed_half(under_level2, which), level3);
    const std::uint32_t lower = packed_half(reciprocals, 0);
    const std::uint32_t upper = packed_half(reciprocals, 1);
    const std::uint32_t ties = packed_half(scales.tie_breaks, which);
    out.codes[which] = gathered_top_bytes(packed_s1p2(words.x, lower, ties), packed_s1p2(words.y, lower, ties),
                                          packed_s1p2(words.z, upper, ties), packed_s1p2(words.w, upper, ties)) &
                       ~sign_of_half(not_finite, which);
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

/// The matrix as one string of groups. A warp takes Pairs * 8 groups.
template <int Pairs, int Threads>
__global__ void __launch_bounds__(Threads)
    quantize_rows(const uint4* input, std::uint32_t* codes, std::uint32_t* scale_words, std::int64_t pieces) {
  constexpr int loads = 2 * Pairs;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t first = (std::int64_t{blockIdx.x} * Threads + threadIdx.x) / 32 * (loads * 32);
  if (first >= pieces) return;
  const int rest = static_cast<int>(min(pieces - first, std::int64_t{loads * 32})) - lane;
  input += first + lane;
  codes += first + lane;
  uint4 words[loads];
#pragma unroll
  for (int i = 0; i < loads; ++i) words[i] = i * 32 < rest ? __ldcs(input + i * 32) : uint4{0, 0, 0, 0};

  const int row_of_four = lane / (lanes_per_group / 2) % 2;  // which group of a pair this lane writes the scale of
  scale_words += first / lanes_per_group + row_of_four * (32 / lanes_per_group) + lane / lanes_per_group;
#pragma unroll
  for (int pair = 0; pair < Pairs; ++pair) {
    const PairOfGroups out = quantize_pair(words[2 * pair], words[2 * pair + 1], lane);
#pragma unroll
    for (int which = 0; which < 2; ++which) {
      const int i = 2 * pair + which;
      if (i * 32 < rest) __stcs(codes + i * 32, out.codes[which]);
    }
    const bool inside = (2 * pair + row_of_four) * 32 < rest;
    if (lane % (lanes_per_group / 2) == 0 && inside) scale_words[pair * (64 / lanes_per_group)] = out.word;
  }
}

bool is_aligned(const void* pointer, std::uintptr_t bytes) {
  return reinterpret_cast<std::uintptr_t>(pointer) % bytes == 0;
}

}  // namespace

bool takes_hif4_packed(const QuantizeJob& job, const Coded& coded) {
  const Profile& p = job.profile;
  return job.dtype == DType::bf16 && p.family == Family::hif4 && p.element == Element::s1p2 &&
         p.block == BlockShape{1, group} && p.rounding == Rounding::rna && p.scale_rounding == Rounding::rne &&
         p.seventh == SeventhRule::bf16_product && p.reciprocal == Reciprocal::bf16 &&
         p.threshold_arithmetic == ThresholdArithmetic::exact && p.element_arithmetic == ElementArithmetic::exact &&
         p.nan == NanPolicy::scale_nan && p.inf == InfPolicy::scale_nan && p.tiny != TinyPolicy::flush_inputs &&
         p.zero_sign == ZeroSign::zero_input_dropped && job.scale_layout == ScaleLayout::row_major &&
         job.shape.axis == 1 && job.shape.columns % group == 0 && is_aligned(job.input, 16) &&
         is_aligned(coded.codes, 4) && is_aligned(coded.scales, 4);
}

Status quantize_hif4_packed(const QuantizeJob& job, const Coded& coded, cudaStream_t stream) {
  constexpr int pairs = 4;
  constexpr int threads = 128;
  const std::int64_t pieces = job.shape.elements() / piece;
  quantize_rows<pairs, threads><<<grid_for(pieces, 2 * pairs * threads), threads, 0, stream>>>(
      static_cast<const uint4*>(job.input), reinterpret_cast<std::uint32_t*>(coded.codes),
      reinterpret_cast<std::uint32_t*>(coded.scales), pieces);
  return launch_status();
}

}  // namespace fp4proof::gpu
