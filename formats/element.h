#pragma once
// Element codes: decode of every code, and encode of a binary32 value at scale 1.

#include <cstdint>

#include "formats/float_bits.h"
#include "formats/magnitude.h"
#include "formats/spec.h"

namespace fp4proof {

/// The exact value of a finite magnitude code.
FP4PROOF_HD constexpr Magnitude element_magnitude(const ElementSpec& spec, std::uint8_t magnitude_code) {
  const int field = magnitude_code >> spec.mantissa_bits;
  const unsigned fraction = magnitude_code & ((1U << spec.mantissa_bits) - 1U);
  if (field == 0) return {fraction, 1 - spec.bias - spec.mantissa_bits};
  return {(1U << spec.mantissa_bits) | fraction, field - spec.bias - spec.mantissa_bits};
}

/// The value of a code as binary32, exact. Codes beyond the largest finite one are NaN or, for E5M2 0x7C, infinity.
/// Bits above the code's width are ignored.
FP4PROOF_HD constexpr float decode_element(Element element, std::uint8_t code) {
  const ElementSpec spec = element_spec(element);
  const auto magnitude_code = static_cast<std::uint8_t>(code & (spec.sign_mask() - 1U));
  const std::uint32_t sign = (code & spec.sign_mask()) != 0 ? float_sign_mask : 0U;
  if (magnitude_code > spec.max_code) {
    const bool infinite = spec.inf_code != 0 && magnitude_code == spec.inf_code;
    return float_from_bits(infinite ? sign | float_infinity_bits : canonical_nan_bits);
  }
  const Magnitude m = element_magnitude(spec, magnitude_code);
  return float_from_bits(sign | float_bits(static_cast<float>(m.significand) * pow2f(m.exponent)));
}

/// A binary32 value at scale 1 to its code.
/// Finite values and infinities beyond the largest element clamp to it and keep their sign; zeros keep their sign.
/// NaN gives the element's NaN code (E4M3 0x7F, E5M2 0x7E) with the sign kept, and the largest code where the element
/// has no NaN. `u` holds `bits` random bits and matters for stochastic rounding alone.
FP4PROOF_HD constexpr std::uint8_t encode_element(Element element, Rounding rounding, float value, std::uint32_t u = 0,
                                                  int bits = 32) {
  const ElementSpec spec = element_spec(element);
  const std::uint32_t word = float_bits(value);
  const auto sign = static_cast<std::uint8_t>((word & float_sign_mask) != 0 ? spec.sign_mask() : 0);
  if (is_nan_bits(word)) return static_cast<std::uint8_t>(sign | (spec.nan_code != 0 ? spec.nan_code : spec.max_code));
  if (is_inf_bits(word)) return static_cast<std::uint8_t>(sign | spec.max_code);
  return static_cast<std::uint8_t>(sign | encode_magnitude(spec, rounding, magnitude_of_bits(word), u, bits));
}

/// The `bits` random bits that stochastic rounding takes from an element's 32-bit random word: the high ones.
FP4PROOF_HD constexpr std::uint32_t random_bits_of_word(std::uint32_t word, int bits) { return word >> (32 - bits); }

}  // namespace fp4proof
