#include "reference/exact/scale.h"

#include <algorithm>
#include <array>
#include <boost/multiprecision/cpp_bin_float.hpp>

#include "reference/exact/element.h"
#include "reference/exact/float_word.h"

namespace fp4proof::exact {
namespace {

int emax_of(Element element) { return largest(element).floor_log2(); }

std::uint8_t clamped_code(int exponent) {
  return static_cast<std::uint8_t>(std::clamp(exponent + e8m0_bias, 0, int{e8m0_max}));
}

/// floor(log2) of the value after its significand is rounded, ties up, to `fraction_bits` bits.
int log2_after_half_up(const Rational& value, int fraction_bits) {
  const int exponent = value.floor_log2();
  const Rational units = value.scaled(fraction_bits - exponent);
  const Integer rounded = (units + Rational::power_of_two(-1)).floor();
  return exponent + Rational(rounded, Integer(1)).floor_log2() - fraction_bits;
}

/// The exponent of the power of two nearest to a positive quotient, a tie to the even code.
int nearest_exponent(const Rational& quotient) {
  const int below = quotient.floor_log2();
  const std::strong_ordering order = quotient <=> Rational(3).scaled(below - 1);
  if (order < 0) return below;
  if (order > 0) return below + 1;
  return (below + e8m0_bias) % 2 == 0 ? below : below + 1;
}

int exact_exponent(ScaleRule rule, Element element, const Rational& amax) {
  switch (rule) {
    case ScaleRule::floor: return amax.floor_log2() - emax_of(element);
    case ScaleRule::ceil: return amax.ceil_log2() - emax_of(element);
    case ScaleRule::rceil: return (amax / largest(element)).ceil_log2();
    case ScaleRule::even: return log2_after_half_up(amax, element_spec(element).mantissa_bits) - emax_of(element);
    case ScaleRule::nearest: return nearest_exponent(amax / largest(element));
  }
  return 0;
}

/// floor of log2(amax) rounded to binary32. The logarithm rounds up to the next integer only just under a power of
/// two: binary32 numbers up to 149 are no further apart than 2^-16, and log2(1 - 2^-8) is below -2^-8.
int floor_of_float_log2(const Rational& amax) {
  using Wide = boost::multiprecision::cpp_bin_float_50;
  const int exponent = amax.floor_log2();
  const Rational significand = amax.scaled(-exponent);
  if (significand <= Rational(2) - Rational::power_of_two(-7)) return exponent;
  const auto units = static_cast<std::int64_t>(significand.scaled(23).floor());
  const Wide log2 = boost::multiprecision::log2(Wide(units)) - 23 + exponent;
  // log2 of a number that is no power of two is irrational, so 2^-100 is fine enough to decide the rounding.
  const Wide scaled = boost::multiprecision::ldexp(boost::multiprecision::abs(log2), 100);
  Rational value(Integer(static_cast<boost::multiprecision::cpp_int>(scaled)), Integer(1), -100);
  if (log2 < 0) value = -value;
  const Rational rounded = float_value(round_to_float(value));
  const bool reaches_next = rounded >= Rational(exponent + 1);
  return reaches_next ? exponent + 1 : exponent;
}

/// The binary32 quotient that the rule looks at: amax / max for the rules that ask what fits, amax / 2^emax for floor.
std::uint32_t float_quotient(const Profile& profile, const Rational& amax) {
  const Rational divisor = profile.scale_rule == ScaleRule::floor ? Rational::power_of_two(emax_of(profile.element))
                                                                  : largest(profile.element);
  if (profile.scale_arithmetic != ScaleArithmetic::fp32_reciprocal) return round_to_float(amax / divisor);
  const Rational reciprocal = float_value(round_to_float(Rational(1) / divisor));
  return round_to_float(amax * reciprocal);
}

std::uint8_t code_of_float_quotient(ScaleRule rule, const Rational& quotient) {
  if (quotient.is_zero()) return 0;
  switch (rule) {
    case ScaleRule::floor: return clamped_code(quotient.floor_log2());
    case ScaleRule::rceil: return clamped_code(quotient.ceil_log2());
    case ScaleRule::nearest: return clamped_code(nearest_exponent(quotient));
    case ScaleRule::ceil:
    case ScaleRule::even: break;
  }
  return 0;
}

std::uint8_t code_of_quotient_word(ScaleRule rule, std::uint32_t word) {
  const std::uint32_t field = (rule == ScaleRule::rceil ? word + 0x7FFFFFU : word) >> 23;
  return static_cast<std::uint8_t>(std::min<std::uint32_t>(field, e8m0_max));
}

std::uint8_t code_by_word_add(Element element, const Rational& amax) {
  const std::uint32_t half_step = 1U << (22 - element_spec(element).mantissa_bits);
  const int field = static_cast<int>((round_to_float(amax) + half_step) >> 23);
  if (field == 255) return e8m0_nan;
  return static_cast<std::uint8_t>(std::max(field - emax_of(element), 0));
}

bool asks_what_fits(ScaleRule rule) { return rule == ScaleRule::rceil || rule == ScaleRule::nearest; }

}  // namespace

Rational e8m0_value(std::uint8_t code) { return Rational::power_of_two(int{code} - e8m0_bias); }

Rational e6m2_value(std::uint8_t code) { return Rational(4 + code % 4).scaled(code / 4 - e6m2_bias - 2); }

Rational e4m3_value(std::uint8_t code) { return magnitudes(Element::e4m3)[code & 0x7FU]; }

std::uint8_t select_e8m0(const Profile& profile, const Rational& amax) {
  const ScaleRule rule = profile.scale_rule;
  const bool by_quotient = rule == ScaleRule::floor || asks_what_fits(rule);
  switch (profile.scale_arithmetic) {
    case ScaleArithmetic::float_log2:
      if (rule == ScaleRule::floor) return clamped_code(floor_of_float_log2(amax) - emax_of(profile.element));
      break;
    case ScaleArithmetic::fp32_divide:
    case ScaleArithmetic::fp32_reciprocal:
      if (by_quotient) return code_of_float_quotient(rule, float_value(float_quotient(profile, amax)));
      break;
    case ScaleArithmetic::fp32_word:
      if (rule == ScaleRule::floor || rule == ScaleRule::rceil)
        return code_of_quotient_word(rule, float_quotient(profile, amax));
      break;
    case ScaleArithmetic::word_add:
      if (rule == ScaleRule::even) return code_by_word_add(profile.element, amax);
      break;
    case ScaleArithmetic::exact: break;
  }
  return clamped_code(exact_exponent(rule, profile.element, amax));
}

std::uint8_t encode_e6m2(const Rational& value, Rounding rounding) {
  static const std::array<Rational, e6m2_max + 1> levels = [] {
    std::array<Rational, e6m2_max + 1> all;
    for (std::size_t code = 0; code < all.size(); ++code) all[code] = e6m2_value(static_cast<std::uint8_t>(code));
    return all;
  }();
  if (value <= levels.front()) return 0;
  if (value >= levels.back()) return e6m2_max;
  const auto above = std::upper_bound(levels.begin(), levels.end(), value);
  const auto high = static_cast<std::uint8_t>(above - levels.begin());
  const auto low = static_cast<std::uint8_t>(high - 1);
  const std::strong_ordering order = value.scaled(1) <=> levels[low] + levels[high];
  if (order != 0) return order < 0 ? low : high;
  const bool up = rounding == Rounding::rna || low % 2 == 1;
  return up ? high : low;
}

std::uint8_t encode_e4m3_scale(const Rational& value) { return encode_magnitude(Element::e4m3, Rounding::rne, value); }

}  // namespace fp4proof::exact
