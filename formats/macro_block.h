#pragma once
// The factor of a macro block. Rules C15, C16 and C19 of docs/rules-corrections.md.

#include <cstdint>

#include "formats/float_bits.h"
#include "formats/mx.h"
#include "formats/spec_corrections.h"

namespace fp4proof {

/// f = 1 + byte / 256, exact.
FP4PROOF_HD constexpr float macro_factor(std::uint8_t byte) { return static_cast<float>(256 + byte) / 256.0F; }

/// The weight g of a macro block in a product (C19): RN(1 / f) under `multiply`, f under `divide`.
FP4PROOF_HD constexpr float macro_weight(MacroForm form, std::uint8_t byte) {
  return form == MacroForm::multiply ? 1.0F / macro_factor(byte) : macro_factor(byte);
}

namespace macro_detail {

FP4PROOF_HD constexpr std::uint8_t mantissa_byte(std::uint32_t word) { return static_cast<std::uint8_t>(word >> 15); }

FP4PROOF_HD constexpr std::uint8_t multiply_byte(float max, std::uint32_t largest_bits) {
  if (largest_bits == 0) return 0;
  const float largest = float_from_bits(largest_bits);
  const std::uint32_t quotient = float_bits(max / largest);
  if (is_inf_bits(quotient)) return 0;
  const std::uint8_t byte = mantissa_byte(quotient);
  const double scaled = double{largest} * double{macro_factor(byte)};
  const double limit = double{max} * pow2d(-floor_log2_bits(quotient));
  // 0 wraps to 255: f = 511/256 with the next smaller power of two.
  return scaled > limit ? static_cast<std::uint8_t>(byte - 1) : byte;
}

FP4PROOF_HD constexpr std::uint8_t divide_byte(float max, std::uint32_t largest_bits) {
  const std::uint32_t quotient = float_bits(float_from_bits(largest_bits) / max);
  const bool is_normal = quotient >= 0x00800000U;
  return is_normal ? mantissa_byte(quotient) : std::uint8_t{0};
}

}  // namespace macro_detail

/// The factor byte of a macro block whose largest finite magnitude is the binary32 word `largest_bits` (C15, C16).
FP4PROOF_HD constexpr std::uint8_t macro_byte(MacroForm form, Element element, std::uint32_t largest_bits) {
  const float max = mx_detail::element_max(element_spec(element));
  return form == MacroForm::multiply ? macro_detail::multiply_byte(max, largest_bits)
                                     : macro_detail::divide_byte(max, largest_bits);
}

}  // namespace fp4proof
