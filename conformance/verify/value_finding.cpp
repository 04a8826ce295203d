#include "conformance/verify/value_finding.h"

#include <cstdlib>

namespace fp4proof::verify {

namespace {

/// Words along the number line.
std::int64_t word_order(std::uint32_t word) {
  const std::int64_t magnitude = word & float_magnitude_mask;
  return (word & float_sign_mask) != 0 ? -magnitude : magnitude;
}

std::string_view value_kind(std::uint32_t expected, std::uint32_t actual) {
  if (is_zero(expected) && is_zero(actual)) return "sign-of-zero";
  if ((expected ^ actual) == float_sign_mask) return "sign";
  const bool subnormal = (expected & float_infinity_bits) == 0;
  if (subnormal && is_zero(actual)) return "flushed-subnormal";
  return std::abs(word_order(expected) - word_order(actual)) == 1 ? "neighbour" : "value";
}

}  // namespace

Finding finding_of(Cause cause, std::string_view kind, std::int64_t distance) {
  Finding finding;
  finding.cause = cause;
  finding.kind = kind;
  finding.distance = distance;
  return finding;
}

bool same_value(std::uint32_t a, std::uint32_t b) { return a == b || (is_nan_bits(a) && is_nan_bits(b)); }

Finding value_finding(std::uint32_t expected, std::uint32_t actual) {
  if (!is_finite_bits(expected) || !is_finite_bits(actual)) return finding_of(Cause::special, "nan-value", 0);
  return finding_of(Cause::element, value_kind(expected, actual), word_order(actual) - word_order(expected));
}

}  // namespace fp4proof::verify
