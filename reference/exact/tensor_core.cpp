#include "reference/exact/tensor_core.h"

#include <algorithm>

#include "reference/exact/float_word.h"

namespace fp4proof::exact {
namespace {

constexpr int binary32_min_exponent = -126;

/// A number of either sign without its fraction.
Rational truncated(const Rational& value) {
  const Rational magnitude(value.abs().floor(), Integer(1));
  return value.sign() < 0 ? -magnitude : magnitude;
}

}  // namespace

Term term_of(const Rational& value, int min_exponent) {
  if (value.is_zero()) return {Rational(), zero_exponent};
  const int exponent = std::max(value.abs().floor_log2(), min_exponent);
  return {value.scaled(-exponent), exponent};
}

Term product_of(const Term& a, const Term& b) { return {a.significand * b.significand, a.exponent + b.exponent}; }

Rational fused_sum(std::span<const Term> terms, int fraction_bits) {
  int largest = terms.front().exponent;
  for (const Term& term : terms) largest = std::max(largest, term.exponent);
  Rational sum;
  for (const Term& term : terms)
    sum = sum + truncated(term.significand.scaled(term.exponent - largest + fraction_bits));
  return sum.scaled(largest - fraction_bits);
}

std::uint32_t truncate_to_float(const Rational& value, int fraction_bits) {
  const BinaryFormat format = {fraction_bits, binary32.min_exponent, binary32.max_exponent, binary32.bits};
  const std::optional<Rational> truncated_value = round_to(format, value, Direction::toward_zero);
  if (!truncated_value) return value.sign() < 0 ? float_sign | float_infinity : float_infinity;
  return round_to_float(*truncated_value);
}

std::uint32_t tensor_core_add(const TensorCore& core, std::uint32_t accumulator, std::vector<Term> terms) {
  terms.push_back(term_of(float_value(accumulator), binary32_min_exponent));
  return truncate_to_float(fused_sum(terms, core.fraction_bits), core.output_fraction_bits);
}

}  // namespace fp4proof::exact
