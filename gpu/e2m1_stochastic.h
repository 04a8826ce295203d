#pragma once
// bfloat16 to E2M1 with stochastic rounding (MX21 of docs/rules-mx.md), eight elements at a time.

#include <cstdint>

#include "formats/float_bits.h"
#include "formats/spec.h"
#include "gpu/packed.h"

namespace fp4proof::gpu {

/// a + b rounded toward zero, for a bfloat16 number a that is not negative and b = a or b = 1.
FP4PROOF_HD inline float sum_toward_zero(float a, float b) {
#if defined(__CUDA_ARCH__)
  return __fadd_rz(a, b);
#else
  const double sum = double{a} + b;  // what binary64 cuts off lies far below the last place of binary32
  const auto nearest = static_cast<float>(sum);
  return double{nearest} > sum ? float_from_bits(float_bits(nearest) - 1U) : nearest;
#endif
}

/// A magnitude y in units of the scale as a word whose upper 10 bits, less 254, are the E2M1 code below it and whose
/// lower 22 bits are the fraction of the way to the next code, cut off.
FP4PROOF_HD inline std::uint32_t e2m1_and_fraction(float y) {
  // Below 1 codes are halves: y + 1 has the code in its first fraction bit. From 1 on the code is the exponent and the
  // first fraction bit, one binade up: y + y.
  return float_bits(sum_toward_zero(y, y > 1.0F ? y : 1.0F));
}

/// Below this a fraction has more than 22 bits.
inline constexpr float e2m1_small = 0x1p-16F;

/// Whether elements of a block can lie above 6, the largest E2M1 number, in units of the scale.
FP4PROOF_HD constexpr bool rule_clips_e2m1(ScaleRule rule) {
  return rule != ScaleRule::ceil && rule != ScaleRule::rceil;
}

/// Two bfloat16 words in units of the scale. Where the rule clips, magnitudes are limited to 6.
template <bool Clips>
FP4PROOF_HD inline std::uint32_t scaled_e2m1(std::uint32_t words, std::uint32_t inverse_scale) {
  constexpr std::uint32_t minus_zero = packed_sign_mask;
  constexpr std::uint32_t six = both_halves(0x40C0U);
  const std::uint32_t scaled = packed_fma_bf16(words, inverse_scale, minus_zero);
  return Clips ? packed_smaller_magnitude_bf16(scaled, six) : scaled;
}

/// Eight E2M1 magnitude codes, the first in the lowest nibble, from four words of scaled_e2m1(); signs do not matter.
/// `random` holds a random word for each: codes go up where the fraction, cut off to `Bits` bits, and the upper `Bits`
/// bits of the word have a sum of 1 or more.
template <int Bits>
FP4PROOF_HD inline std::uint32_t stochastic_e2m1(const std::uint32_t (&scaled)[4], const std::uint32_t (&random)[8]) {
  constexpr std::uint32_t used = Bits == 32 ? 0xFFFFFFFFU : ~(0xFFFFFFFFU >> (Bits % 32));
  const auto magnitude = [&](int i) {
    return __builtin_fabsf(float_from_bits(i % 2 == 0 ? scaled[i / 2] << 16 : scaled[i / 2] & 0xFFFF0000U));
  };
  // The fractions carry into the codes, which then stand in bits 24:22, two less than 256 above them. The upper halves
  // of elements i and i + 4 go through the rest together.
  const auto moved = [&](int i) { return e2m1_and_fraction(magnitude(i)) + ((random[i] & used) >> 10); };
  const auto pair = [&](int i) { return permuted_bytes(moved(i), moved(i + 4), 0x7632U); };
  const auto merged = [](std::uint32_t mask, std::uint32_t a, std::uint32_t b) { return (a & mask) | (b & ~mask); };
  constexpr std::uint32_t code_bits = 0x77777777U;
  const std::uint32_t lower = merged(0x000F000FU, pair(0) >> 6, pair(1) >> 2);
  const std::uint32_t upper = merged(0x0F000F00U, pair(2) << 2, pair(3) << 6);
  std::uint32_t codes = ((merged(0x00FF00FFU, lower, upper) & code_bits) + 0x22222222U) & code_bits;
  if constexpr (Bits == 32) {
    // Where bits were cut off the fraction is below 2^-15, and the sum misses 1 for a word of all ones in 15 bits
    // alone.
    std::uint32_t largest = random[0];
    for (int i = 1; i < 8; ++i) largest = largest < random[i] ? random[i] : largest;
    if (largest >= 0xFFFE0000U) {
      for (int i = 0; i < 8; ++i) {
        if (magnitude(i) >= e2m1_small) continue;
        const auto fraction = static_cast<std::uint32_t>(magnitude(i) * 0x1p33F);
        if (fraction + random[i] < fraction) codes |= 1U << (4 * i);
      }
    }
  }
  return codes;
}

/// The signs of eight elements in four bfloat16 words, in the top bits of the nibbles.
FP4PROOF_HD inline std::uint32_t signs_of_eight(const std::uint32_t (&words)[4]) {
  const std::uint32_t lower = permuted_bytes(words[0], words[1], 0x7531U);  // elements 0 1 2 3
  const std::uint32_t upper = permuted_bytes(words[2], words[3], 0x7531U);
  const std::uint32_t even = permuted_bytes(lower, upper, 0xECA8U);  // the sign in every bit of the byte
  const std::uint32_t odd = permuted_bytes(lower, upper, 0xFDB9U);
  return (even & 0x08080808U) | (odd & 0x80808080U);
}

}  // namespace fp4proof::gpu
