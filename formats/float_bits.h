#pragma once
// Binary32, binary16 and bfloat16 words: exact conversions and a few exact powers of two.
// Nothing here depends on the rounding mode of the machine except where a comment says so.

#include <cstdint>

#include "formats/host_device.h"

namespace fp4proof {

template <class To, class From>
FP4PROOF_HD constexpr To bits_as(From value) {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, value);
}

FP4PROOF_HD constexpr std::uint32_t float_bits(float value) { return bits_as<std::uint32_t>(value); }
FP4PROOF_HD constexpr float float_from_bits(std::uint32_t word) { return bits_as<float>(word); }

inline constexpr std::uint32_t float_sign_mask = 0x80000000U;
inline constexpr std::uint32_t float_magnitude_mask = 0x7FFFFFFFU;
inline constexpr std::uint32_t float_infinity_bits = 0x7F800000U;
/// The one NaN that the project writes; every computed NaN is canonicalised to it.
inline constexpr std::uint32_t canonical_nan_bits = 0x7FC00000U;

FP4PROOF_HD constexpr bool is_nan_bits(std::uint32_t word) {
  return (word & float_magnitude_mask) > float_infinity_bits;
}
FP4PROOF_HD constexpr bool is_inf_bits(std::uint32_t word) {
  return (word & float_magnitude_mask) == float_infinity_bits;
}
FP4PROOF_HD constexpr bool is_finite_bits(std::uint32_t word) {
  return (word & float_magnitude_mask) < float_infinity_bits;
}
FP4PROOF_HD constexpr float canonical_nan() { return float_from_bits(canonical_nan_bits); }

/// 2^exponent as binary32, exact, for -149 <= exponent <= 127 (gradual underflow included).
FP4PROOF_HD constexpr float pow2f(int exponent) {
  return exponent >= -126 ? float_from_bits(static_cast<std::uint32_t>(exponent + 127) << 23)
                          : float_from_bits(1U << (exponent + 149));
}

/// 2^exponent as binary64, exact, for -1022 <= exponent <= 1023.
FP4PROOF_HD constexpr double pow2d(int exponent) {
  return bits_as<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// floor(log2(magnitude)) of a positive finite binary32 word, exact, subnormals included.
FP4PROOF_HD constexpr int floor_log2_bits(std::uint32_t magnitude) {
  const int field = static_cast<int>(magnitude >> 23);
  if (field != 0) return field - 127;
  int exponent = -149;
  for (std::uint32_t rest = magnitude >> 1; rest != 0; rest >>= 1) ++exponent;
  return exponent;
}

/// bfloat16 word to binary32, exact.
FP4PROOF_HD constexpr float bf16_to_float(std::uint16_t word) {
  return float_from_bits(static_cast<std::uint32_t>(word) << 16);
}

/// Binary32 rounded to bfloat16, ties to even, overflow to infinity; a NaN stays a NaN.
FP4PROOF_HD constexpr std::uint16_t float_to_bf16(float value) {
  const std::uint32_t word = float_bits(value);
  if (is_nan_bits(word)) return static_cast<std::uint16_t>((word >> 16) | 0x0040U);
  return static_cast<std::uint16_t>((word + 0x7FFFU + ((word >> 16) & 1U)) >> 16);
}

/// Binary32 rounded to the nearest bfloat16 value and widened again.
FP4PROOF_HD constexpr float round_to_bf16(float value) { return bf16_to_float(float_to_bf16(value)); }

/// binary16 word to binary32, exact; NaN payloads are kept.
FP4PROOF_HD constexpr float fp16_to_float(std::uint16_t word) {
  const std::uint32_t sign = static_cast<std::uint32_t>(word & 0x8000U) << 16;
  const std::uint32_t field = (word >> 10) & 0x1FU;
  const std::uint32_t mantissa = word & 0x3FFU;
  if (field == 0x1FU) return float_from_bits(sign | float_infinity_bits | (mantissa << 13));
  if (field != 0) return float_from_bits(sign | ((field + 112U) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * pow2f(-24);
  return float_from_bits(sign | float_bits(magnitude));
}

}  // namespace fp4proof
