#include "reference/portable/tensor_core_model.h"

#include <algorithm>

#include "formats/float_bits.h"
#include "formats/magnitude.h"

namespace fp4proof::portable {

namespace {

constexpr int float_fraction_bits = 23;
constexpr int float_min_exponent = -126;

ModelTerm term_of_float(float value) {
  const std::uint32_t word = float_bits(value);
  const int field = static_cast<int>((word >> float_fraction_bits) & 0xFFU);
  const auto fraction = static_cast<std::int64_t>(word & 0x7FFFFFU);
  const std::int64_t magnitude = field == 0 ? fraction : fraction | 0x800000;
  const bool negative = (word & float_sign_mask) != 0;
  return {negative ? -magnitude : magnitude, field == 0 ? float_min_exponent : field - 127};
}

/// magnitude * 2^shift, truncated.
std::uint64_t shifted(std::uint64_t magnitude, int shift) {
  if (shift >= 0) return magnitude << shift;
  return shift > -64 ? magnitude >> -shift : 0;
}

/// significand * 2^shift, truncated toward zero.
std::int64_t aligned(std::int64_t significand, int shift) {
  const bool negative = significand < 0;
  const auto magnitude =
      static_cast<std::int64_t>(shifted(static_cast<std::uint64_t>(negative ? -significand : significand), shift));
  return negative ? -magnitude : magnitude;
}

/// sum * 2^exponent truncated toward zero to `fraction_bits` fraction bits.
float truncated_to_float(std::int64_t sum, int exponent, int fraction_bits) {
  const auto magnitude = static_cast<std::uint64_t>(sum < 0 ? -sum : sum);
  if (magnitude == 0) return 0.0F;
  const int binade = std::max(top_bit(magnitude) + exponent, float_min_exponent);
  const int step = binade - fraction_bits;
  const auto steps = static_cast<double>(shifted(magnitude, exponent - step));
  if (steps == 0.0) return 0.0F;
  return static_cast<float>((sum < 0 ? -steps : steps) * pow2d(step));
}

}  // namespace

ModelNumber model_number(double value, int min_exponent) {
  if (value == 0.0) return {0, zero_exponent};
  const auto field = static_cast<int>((bits_as<std::uint64_t>(value) >> 52) & 0x7FFU);
  const int exponent = std::max(field - 1023, min_exponent);
  return {static_cast<std::int16_t>(value * pow2d(significand_fraction_bits - exponent)),
          static_cast<std::int16_t>(exponent)};
}

int hopper_fp16_min_exponent(Element) { return -14; }
int hopper_fp8_min_exponent(Element element) {
  return own_min_exponent(element == Element::e5m2 ? Element::e5m2 : Element::e4m3);
}
int own_min_exponent(Element element) { return 1 - element_spec(element).bias; }
int scale_min_exponent(Family family) { return family == Family::nvfp4 ? own_min_exponent(Element::e4m3) : -e8m0_bias; }

float fused_sum(const TensorCore& core, float accumulator, std::span<const ModelTerm> terms, int point) {
  const ModelTerm c = term_of_float(accumulator);
  int largest = c.exponent;
  for (const ModelTerm& term : terms) largest = std::max(largest, term.exponent);
  const int lowest = largest - core.fraction_bits;
  std::int64_t sum = aligned(c.significand, c.exponent - float_fraction_bits - lowest);
  for (const ModelTerm& term : terms) sum += aligned(term.significand, term.exponent - point - lowest);
  return truncated_to_float(sum, lowest, core.output_fraction_bits);
}

}  // namespace fp4proof::portable
