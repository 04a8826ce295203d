#pragma once
// bfloat16 to HiF4 under hif4/gcc, two at a time: E6M2 scale, level bits, S1P2 elements rounded to nearest with ties
// away from zero. Rule numbers are those of docs/rules-hif4.md.

#include <cstdint>

#include "gpu/packed.h"

namespace fp4proof::gpu {

/// What follows from the largest magnitudes of two groups, a half each.
struct PackedHif4Scales {
  std::uint32_t codes;        ///< E6M2
  std::uint32_t four;         ///< the smallest bfloat16 number whose product with the reciprocal reaches 4
  std::uint32_t reciprocals;  ///< four times the reciprocal, since elements are counted in quarters
  std::uint32_t tie_breaks;   ///< see packed_s1p2()
};

/// The E6M2 codes of two groups (HF10 to HF12). Means nothing where a magnitude is not finite.
FP4PROOF_HD inline std::uint32_t packed_e6m2_codes(std::uint32_t amax) {
  constexpr std::uint32_t minus_zero = packed_sign_mask;
  const std::uint32_t seventh = packed_fma_bf16(amax, both_halves(0x3E12U), minus_zero);
  const std::uint32_t even = seventh >> 5 & both_halves(1U);
  const std::uint32_t quarters = (seventh + both_halves(15U) + even) >> 5 & both_halves(0x7FFU);
  constexpr std::uint32_t bias_difference = 4 * (127 - e6m2_bias);
  return packed_clamped_sum_s16(quarters, both_halves(0x10000U - bias_difference), both_halves(e6m2_max));
}

/// Reciprocals and thresholds are linear in the code but for a few units in the last place that depend on its mantissa.
FP4PROOF_HD inline PackedHif4Scales packed_hif4_scales(std::uint32_t codes) {
  const std::uint32_t mantissas = codes & both_halves(3U);
  const std::uint32_t selector = mantissas + (mantissas >> 8);  // bytes 0 and 2 by mantissa, bytes 1 and 3 are zero
  const std::uint32_t below = permuted_bytes(0x0E151300U, 0, selector);
  const std::uint32_t upper_bits = codes >> 1;
  PackedHif4Scales scales;
  scales.codes = codes;
  scales.four = both_halves(0x2880U) + codes * 32U + (codes & upper_bits & both_halves(1U));
  scales.reciprocals = both_halves(0x5880U) - codes * 32U - below;
  scales.tie_breaks = ~(codes | upper_bits) & both_halves(1U);
  return scales;
}

/// The level-2 bit of a sub-group of each of two groups, as all ones or zeros, from its largest magnitude (HF14).
FP4PROOF_HD inline std::uint32_t packed_hif4_level2(std::uint32_t largest, const PackedHif4Scales& scales) {
  return packed_at_least_bf16(largest, scales.four);
}

/// One bit less in the exponent where `level` is set.
FP4PROOF_HD constexpr std::uint32_t packed_halved(std::uint32_t numbers, std::uint32_t level) {
  return numbers - (level & both_halves(0x80U));
}

/// The magnitudes that level-3 bits are compared with (HF15): 4 under a set level-2 bit, else 2.
FP4PROOF_HD constexpr std::uint32_t packed_hif4_level3_threshold(const PackedHif4Scales& scales, std::uint32_t level2) {
  return packed_halved(scales.four, ~level2);
}

/// The bfloat16 number 128, whose last place is 1.
inline constexpr std::uint32_t packed_s1p2_base = both_halves(0x4300U);

/// Two S1P2 magnitude codes in bits 2:0 and 18:16. Other bits are those of packed_s1p2_base. `reciprocals` are halved
/// once for each level bit.
FP4PROOF_HD inline std::uint32_t packed_s1p2_magnitudes(std::uint32_t words, std::uint32_t reciprocals,
                                                        std::uint32_t tie_breaks) {
  // A sum with 128 is rounded to a whole number. Ties go to even there, but only a reciprocal that is a power of two
  // makes ties at all, from magnitudes with at most four significant bits: their last bit set moves them up, and
  // nothing else across a tie.
  constexpr std::uint32_t most = packed_s1p2_base + both_halves(7U);
  const std::uint32_t magnitudes = packed_magnitude(words) | tie_breaks;
  return packed_min_u16(packed_fma_bf16(magnitudes, reciprocals, packed_s1p2_base), most);
}

/// bfloat16 words with +0 for -0.
FP4PROOF_HD inline std::uint32_t packed_without_minus_zero(std::uint32_t words) {
  return packed_fma_bf16(words, both_halves(0x3F80U), 0);
}

/// Two S1P2 codes as the top byte of a word: bits 27:24 the lower one, bits 31:28 the upper one. The other bytes are
/// not zero.
FP4PROOF_HD inline std::uint32_t packed_s1p2(std::uint32_t words, std::uint32_t reciprocals, std::uint32_t tie_breaks) {
  // As in packed_e2m1(): both codes and signs side by side in the top byte.
  constexpr std::uint32_t gather = 0x01001001U;
  const std::uint32_t signs = packed_without_minus_zero(words) & packed_sign_mask;
  const std::uint32_t coded = packed_s1p2_magnitudes(words, reciprocals, tie_breaks) | signs;
  return coded * gather - packed_s1p2_base * gather;
}

/// Four S1P2 codes of each of two columns, from the bfloat16 words of two neighbouring columns in four rows: bits 15:0
/// the lower column, bits 31:16 the upper one, the first row in the lowest nibble.
FP4PROOF_HD inline std::uint32_t packed_s1p2_rows(const std::uint32_t* words, std::uint32_t reciprocals,
                                                  std::uint32_t tie_breaks) {
  std::uint32_t rows = 0;
  for (int i = 3; i >= 0; --i) {
    const std::uint32_t signs = packed_without_minus_zero(words[i]) >> 12 & both_halves(8U);
    rows = rows * 16U + (packed_s1p2_magnitudes(words[i], reciprocals, tie_breaks) | signs);
  }
  return rows - packed_s1p2_base * 0x1111U;
}

}  // namespace fp4proof::gpu
