#pragma once
// 4-bit codes to bfloat16, four at a time: values come from a table of eight that fits two registers a byte.

#include <cstdint>

#include "formats/element.h"
#include "formats/scale_codes.h"
#include "gpu/packed.h"

namespace fp4proof::gpu {

/// The bfloat16 words of the eight magnitudes of a 4-bit element, upper and lower bytes apart. All are exact.
struct PackedValueTable {
  std::uint32_t upper[2] = {};
  std::uint32_t lower[2] = {};
};

FP4PROOF_HD constexpr PackedValueTable packed_value_table(Element element) {
  PackedValueTable table;
  for (int code = 0; code < 8; ++code) {
    const std::uint32_t word = float_bits(decode_element(element, static_cast<std::uint8_t>(code))) >> 16;
    table.upper[code / 4] |= (word >> 8) << (code % 4 * 8);
    table.lower[code / 4] |= (word & 0xFFU) << (code % 4 * 8);
  }
  return table;
}

/// Two bfloat16 words of two numbers each.
struct FourBf16 {
  std::uint32_t first;
  std::uint32_t second;
};

/// The values of the codes in bits 15:0 of `codes`, signs included.
FP4PROOF_HD inline FourBf16 packed_values(const PackedValueTable& table, std::uint32_t codes) {
  const std::uint32_t selector = codes & 0x7777U;
  const std::uint32_t lower = permuted_bytes(table.lower[0], table.lower[1], selector);
  const std::uint32_t upper = permuted_bytes(table.upper[0], table.upper[1], selector);
  // The sign of an odd element is the top bit of its byte, that of an even one after a shift by 4.
  const std::uint32_t signs = permuted_bytes(codes << 4, codes, 0x5140U) & 0x80808080U;
  return {permuted_bytes(lower, upper | signs, 0x5140U), permuted_bytes(lower, upper | signs, 0x7362U)};
}

/// The bfloat16 word of an E8M0 scale, exact; NaN under 255.
FP4PROOF_HD constexpr std::uint32_t bf16_of_e8m0(std::uint32_t code) {
  return code == 0 ? 0x0040U : code == e8m0_nan ? 0x7FC0U : code << 7;
}

/// The bfloat16 word of E6M2 * 2^levels, exact; NaN under 255.
FP4PROOF_HD constexpr std::uint32_t bf16_of_e6m2(std::uint32_t code, std::uint32_t levels) {
  constexpr std::uint32_t bias_difference = (127 - e6m2_bias) << 7;
  return code == e6m2_nan ? 0x7FC0U : bias_difference + (code << 5) + (levels << 7);
}

/// value * scale, rounded once to bfloat16 (inexact only where it overflows to infinity); NaN is 0x7FC0. `kept` is
/// kept_bits() of the scale.
FP4PROOF_HD inline std::uint32_t packed_scaled_values(std::uint32_t values, std::uint32_t scale, std::uint32_t kept) {
  constexpr std::uint32_t minus_zero = packed_sign_mask;
  return packed_fma_bf16(values, scale, minus_zero) & kept;
}

/// The bits of a product that stay: a computed NaN is 0x7FFF.
FP4PROOF_HD constexpr std::uint32_t kept_bits(bool is_nan) { return is_nan ? both_halves(0x7FC0U) : 0xFFFFFFFFU; }

}  // namespace fp4proof::gpu
