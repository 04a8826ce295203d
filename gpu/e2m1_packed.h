#pragma once
// bfloat16 to E2M1, two at a time: scaling by a power of two, rounding to nearest with ties to the even code, packing.

#include <cstdint>

#include "formats/spec.h"
#include "gpu/packed.h"

namespace fp4proof::gpu {

/// The bfloat16 word (in both halves) of 2^(127 - scale_code), for scale codes 0 to 254.
FP4PROOF_HD constexpr std::uint32_t packed_inverse_scale(std::uint32_t scale_code) {
  return both_halves(scale_code < e8m0_max ? (e8m0_max - scale_code) << 7 : 0x0040U);
}

/// |x| * inverse_scale for two bfloat16 magnitudes as two binary16 numbers. Exact from 2^-7 up to 2^16; what is
/// smaller stays below 2^-6, far under the first tie of E2M1. From 2^16 on, for infinities and NaNs neither half means
/// anything.
FP4PROOF_HD inline std::uint32_t packed_scaled_f16(std::uint32_t magnitudes, std::uint32_t inverse_scale) {
  // The addend is less than half a unit in the last place of everything from 2^-7 up, so the sum rounds back to the
  // product; and it keeps the exponent field at 112 or above. Then a binary16 word is the bfloat16 word less 112 in
  // the exponent, shifted left by 3, without a borrow or a carry between the halves.
  constexpr std::uint32_t least = both_halves(112U << 7);
  const std::uint32_t scaled = packed_fma_bf16(magnitudes, inverse_scale, least);
  return scaled * 8U - both_halves(112U << 10);
}

/// Two E2M1 magnitude codes in bits 2:0 and 18:16 from two non-negative binary16 numbers. Other bits are not zero:
/// the halves are the words of 1024 + code.
FP4PROOF_HD inline std::uint32_t packed_e2m1_f16(std::uint32_t scaled) {
  // Below 2 codes count halves, below 4 ones, below 6 twos. Each part saturates, and where one is saturated it is an
  // even number of codes, so that rounding each sum to an integer has the parity of the code.
  constexpr std::uint32_t half = both_halves(0x3800U);
  constexpr std::uint32_t one = both_halves(0x3C00U);
  constexpr std::uint32_t two = both_halves(0x4000U);
  constexpr std::uint32_t four = both_halves(0x4400U);
  constexpr std::uint32_t minus_zero = both_halves(0x8000U);
  constexpr std::uint32_t minus_one = both_halves(0xBC00U);
  constexpr std::uint32_t minus_two = both_halves(0xC000U);
  constexpr std::uint32_t integers = both_halves(0x6400U);  // 1024: the last place of a sum is 1
  const std::uint32_t below_two = packed_fma_sat_f16(scaled, half, minus_zero);
  const std::uint32_t below_four = packed_fma_sat_f16(scaled, half, minus_one);
  const std::uint32_t below_six = packed_fma_sat_f16(scaled, half, minus_two);
  return packed_fma_f16(below_six, one, packed_fma_f16(below_four, two, packed_fma_f16(below_two, four, integers)));
}

/// Two E2M1 codes, signs included, from two bfloat16 words, as the top byte of a word: bits 27:24 the lower one, bits
/// 31:28 the upper one. The other bytes are not zero.
FP4PROOF_HD inline std::uint32_t packed_e2m1(std::uint32_t words, std::uint32_t inverse_scale) {
  const std::uint32_t sums = packed_e2m1_f16(packed_scaled_f16(packed_magnitude(words), inverse_scale));
  const std::uint32_t coded = sums | (words & packed_sign_mask);
  // Times 2^24 brings the lower code from 2:0 to 26:24, times 2^12 its sign from 15 to 27 and the upper code from 18:16
  // to 30:28; the upper sign stays at 31. The 1024 in both halves goes along and is taken off.
  constexpr std::uint32_t gather = 0x01001001U;
  constexpr std::uint32_t bias = both_halves(0x6400U);
  return coded * gather - bias * gather;
}

/// Eight E2M1 codes, the first in the lowest nibble, from four words of packed_e2m1().
FP4PROOF_HD inline std::uint32_t gathered_top_bytes(std::uint32_t a, std::uint32_t b, std::uint32_t c,
                                                    std::uint32_t d) {
  return permuted_bytes(permuted_bytes(a, b, 0x0073U), permuted_bytes(c, d, 0x0073U), 0x5410U);
}

/// Four E2M1 codes of each of two columns, from the bfloat16 words of two neighbouring columns in four rows: bits 15:0
/// the lower column, bits 31:16 the upper one, the first row in the lowest nibble. `kept` is all ones in the half of a
/// finite column and 0 in the other, whose codes are 0: an infinity or a NaN would carry into its neighbour.
FP4PROOF_HD inline std::uint32_t packed_e2m1_rows(const std::uint32_t* words, std::uint32_t inverse_scales,
                                                  std::uint32_t kept) {
  const std::uint32_t magnitudes = kept & packed_magnitude_mask;
  const std::uint32_t signs = kept & both_halves(8U);
  std::uint32_t rows = 0;
  for (int i = 3; i >= 0; --i) {
    const std::uint32_t sums = packed_e2m1_f16(packed_scaled_f16(words[i] & magnitudes, inverse_scales));
    rows = rows * 16U + (sums | (words[i] >> 12 & signs));
  }
  constexpr std::uint32_t bias = both_halves(0x6400U);
  return rows - bias * 0x1111U;
}

// ---------------------------------------------------------------------------------------------------------------------
// Scale codes of two blocks at once
// ---------------------------------------------------------------------------------------------------------------------

/// A scale rule as arithmetic on the bfloat16 word of amax: the exponent field of word + add, less `drop`, not below 0;
/// `add` is less by `odd` where the field of the word itself is odd. All in both halves.
struct PackedScaleRule {
  std::uint32_t add;
  std::uint32_t odd;
  std::uint32_t drop;
};

/// MX13 of docs/rules-mx.md for E2M1, ScaleArithmetic::exact. With 7 fraction bits: `rceil` goes up above 1.5, `even`
/// from 1.75, `nearest` above 1.125 to half the exponent of amax / 4; at 1.125 the even code wins.
FP4PROOF_HD constexpr PackedScaleRule packed_scale_rule(ScaleRule rule) {
  constexpr std::uint32_t two = both_halves(2U);
  switch (rule) {
    case ScaleRule::floor: return {0, 0, two};
    case ScaleRule::ceil: return {both_halves(0x7FU), 0, two};
    case ScaleRule::rceil: return {both_halves(0x3FU), 0, two};
    case ScaleRule::even: return {both_halves(0x20U), 0, two};
    case ScaleRule::nearest: return {both_halves(0x70U), both_halves(1U), both_halves(3U)};
  }
  return {};
}

/// The scale codes of two blocks from the bfloat16 words of their largest magnitudes. Means nothing where
/// packed_not_finite() is set.
FP4PROOF_HD inline std::uint32_t packed_scale_codes(std::uint32_t amax, const PackedScaleRule& rule) {
  constexpr std::uint32_t fields = both_halves(0x1FFU);
  const std::uint32_t sum = amax + rule.add - (amax >> 7 & rule.odd);
  return packed_max_u16(sum >> 7 & fields, rule.drop) - rule.drop;
}

/// Whether a magnitude is infinite or NaN, in the sign bit of its half.
FP4PROOF_HD constexpr std::uint32_t packed_not_finite(std::uint32_t magnitudes) {
  return (magnitudes + both_halves(0x80U)) & packed_sign_mask;
}

/// packed_inverse_scale() of two scale codes up to 253, which is as far as bfloat16 blocks go.
FP4PROOF_HD constexpr std::uint32_t packed_inverse_scales(std::uint32_t scale_codes) {
  return both_halves(254U << 7) - scale_codes * 128U;
}

/// The same two codes, 255 where `not_finite` says so.
FP4PROOF_HD inline std::uint32_t packed_marked_codes(std::uint32_t scale_codes, std::uint32_t not_finite) {
  return scale_codes | ((not_finite >> 7) - (not_finite >> 15));
}

}  // namespace fp4proof::gpu
