#pragma once
// Scale codes: E8M0 (MX), E6M2 (HiF4), E4M3 (NVFP4).

#include <cstdint>

#include "formats/element.h"
#include "formats/float_bits.h"
#include "formats/magnitude.h"
#include "formats/spec.h"

namespace fp4proof {

/// E8M0: 2^(code - 127) as binary32, exact; code 0 is the subnormal 2^-127 (0x00400000); 255 is NaN.
FP4PROOF_HD constexpr float decode_e8m0(std::uint8_t code) {
  return code == e8m0_nan ? canonical_nan() : pow2f(static_cast<int>(code) - e8m0_bias);
}

/// An exponent as E8M0 code, clamped to 0..254.
FP4PROOF_HD constexpr std::uint8_t e8m0_from_exponent(int exponent) {
  const int code = exponent + e8m0_bias;
  return static_cast<std::uint8_t>(code < 0 ? 0 : code > e8m0_max ? int{e8m0_max} : code);
}

/// E6M2: (1 + m/4) * 2^(e - 48) as an exact magnitude; code 0xFF (NaN) must not be passed.
FP4PROOF_HD constexpr Magnitude e6m2_magnitude(std::uint8_t code) {
  return {4U + (code & 3U), static_cast<int>(code >> 2) - e6m2_bias - 2};
}

/// E6M2 as binary32, exact; 0xFF is NaN.
FP4PROOF_HD constexpr float decode_e6m2(std::uint8_t code) {
  if (code == e6m2_nan) return canonical_nan();
  const Magnitude m = e6m2_magnitude(code);
  return static_cast<float>(m.significand) * pow2f(m.exponent);
}

/// A magnitude to E6M2: clamped to [2^-48, 1.5 * 2^15], the significand rounded to two fraction bits by `rounding`
/// (rne, or rna for half up) with the carry going into the exponent. Never 0xFF.
FP4PROOF_HD constexpr std::uint8_t encode_e6m2(const Magnitude& m, Rounding rounding) {
  if (m.significand == 0) return 0;
  const int log2 = floor_log2(m);
  if (log2 < -e6m2_bias) return 0;
  if (log2 > 15) return e6m2_max;
  const auto quarters = static_cast<int>(round_to_step(m, log2 - 2, rounding, 0, 0));
  const int code = ((log2 + e6m2_bias) << 2) + (quarters - 4);
  return static_cast<std::uint8_t>(code < e6m2_max ? code : int{e6m2_max});
}

/// The reciprocal of an E6M2 scale rounded to bfloat16 (ties to even): mantissas 0..3 give 0x3F80, 0x3F4D, 0x3F2B,
/// 0x3F12 times the negated power of two.
FP4PROOF_HD constexpr Magnitude e6m2_reciprocal_bf16(std::uint8_t code) {
  constexpr std::uint8_t significands[4] = {128, 205, 171, 146};
  const int exponent = static_cast<int>(code >> 2) - e6m2_bias;
  const unsigned mantissa = code & 3U;
  return {significands[mantissa], -exponent - (mantissa == 0 ? 7 : 8)};
}

/// NVFP4 block scale: E4M3 without sign; 0x7F is NaN.
FP4PROOF_HD constexpr float decode_e4m3_scale(std::uint8_t code) { return decode_element(Element::e4m3, code); }

}  // namespace fp4proof
