#include "conformance/explain/mx_scale_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/multiprecision/cpp_bin_float.hpp>

#include "conformance/explain/grid_choice.h"
#include "conformance/explain/number_text.h"
#include "conformance/explain/rules.h"
#include "formats/float_bits.h"
#include "formats/mx.h"
#include "reference/exact/element.h"
#include "reference/exact/float_word.h"

namespace fp4proof::explain {

namespace {

std::string text_of(const Rational& value) { return decimal_text(value); }

/// What the steps of one scale have in common.
struct Scene {
  const Profile& profile;
  ElementSpec element;
  Rational max;
  std::uint32_t amax_bits;
  Rational amax;
  std::vector<Step>& steps;

  void add(std::string_view id, std::string_view rule, std::string label, std::string text,
           std::optional<Rational> value = std::nullopt) const {
    steps.push_back({id, rule, std::move(label), std::move(text), std::move(value)});
  }
};

/// An exponent and the words that lead to it.
struct Exponent {
  int value;
  std::string text;
};

Exponent less_emax(int log2, const std::string& what, const Scene& scene) {
  const int value = log2 - scene.element.emax;
  return {value, fmt::format("{} - emax = {} - {} = {}", what, log2, scene.element.emax, value)};
}

/// The smallest e with quotient <= 2^e.
Exponent smallest_above(const Rational& quotient, const std::string& what) {
  const int value = quotient.ceil_log2();
  return {value, fmt::format("smallest e with {} <= 2^e: 2^{} < {} <= 2^{}, e = {}", what, value - 1, text_of(quotient),
                             value, value)};
}

Exponent nearest_power(const Rational& quotient, const std::string& what) {
  const int below = quotient.floor_log2();
  const Rational ratio = quotient.scaled(-below);
  const std::strong_ordering order = ratio <=> Rational(3).scaled(-1);
  const bool lower_is_even = (below + e8m0_bias) % 2 == 0;
  const bool up = order > 0 || (order == 0 && !lower_is_even);
  const std::string reason = order < 0 ? "below 1.5"
                             : order > 0
                                 ? "above 1.5"
                                 : fmt::format("a tie at 1.5, to the even code {}", below + e8m0_bias + (up ? 1 : 0));
  return {below + (up ? 1 : 0),
          fmt::format("{} = {} * 2^{}, {}: e = {}", what, text_of(ratio), below, reason, below + (up ? 1 : 0))};
}

Exponent even_exponent(const Scene& scene) {
  const int log2 = scene.amax.floor_log2();
  const int bits = scene.element.mantissa_bits;
  const Rational significand = scene.amax.scaled(-log2);
  const Rational units = significand.scaled(bits) + Rational::power_of_two(-1);
  const Rational rounded = Rational(units.floor(), 1).scaled(-bits);
  const int log2_rounded = log2 + rounded.floor_log2();
  const int value = log2_rounded - scene.element.emax;
  return {value,
          fmt::format("amax = {} * 2^{}, significand to {} fraction bit{}, ties up: {}; {} - emax = {} - {} = {}",
                      text_of(significand), log2, bits, bits == 1 ? "" : "s", text_of(rounded), "floor(log2)",
                      log2_rounded, scene.element.emax, value)};
}

Exponent exact_exponent(const Scene& scene) {
  const std::string quotient = fmt::format("amax / {}", text_of(scene.max));
  switch (scene.profile.scale_rule) {
    case ScaleRule::floor: return less_emax(scene.amax.floor_log2(), "floor(log2 amax)", scene);
    case ScaleRule::ceil: return less_emax(scene.amax.ceil_log2(), "ceil(log2 amax)", scene);
    case ScaleRule::rceil: return smallest_above(scene.amax / scene.max, quotient);
    case ScaleRule::even: return even_exponent(scene);
    case ScaleRule::nearest: return nearest_power(scene.amax / scene.max, quotient);
  }
  return {};
}

std::uint8_t clamped(int exponent) {
  return static_cast<std::uint8_t>(std::clamp(exponent + e8m0_bias, 0, int{e8m0_max}));
}

std::uint8_t code_of(const Exponent& exponent, const Scene& scene) {
  scene.add("rule", rule::scale_rule, std::string(name_of(scene.profile.scale_rule)), exponent.text,
            Rational(exponent.value));
  const std::uint8_t code = clamped(exponent.value);
  const int wanted = exponent.value + e8m0_bias;
  scene.add("code", rule::scale_clamp, "scale code",
            fmt::format("{} + {} = {}{}", exponent.value, e8m0_bias, wanted,
                        wanted == code ? "" : fmt::format(", clamped to {}", code)),
            Rational(code));
  return code;
}

/// log2 of a positive number: exact where it is an integer, else irrational and right to 2^-100, which decides every
/// rounding to binary32.
Rational log2_of(const Rational& amax) {
  const int exponent = amax.floor_log2();
  if (amax == Rational::power_of_two(exponent)) return Rational(exponent);
  using Wide = boost::multiprecision::cpp_bin_float_50;
  const auto units = static_cast<std::int64_t>(amax.scaled(23 - exponent).floor());
  const Wide fraction = boost::multiprecision::log2(Wide(units)) - 23;
  const Wide scaled = boost::multiprecision::ldexp(fraction, 100);
  const exact::Integer whole(static_cast<boost::multiprecision::cpp_int>(scaled));
  return Rational(exponent) + Rational(whole, 1, -100);
}

int floor_of(const Rational& value) {
  const auto magnitude = static_cast<int>(value.abs().floor());
  return value.sign() < 0 && !value.is_integer() ? -magnitude - 1 : value.sign() < 0 ? -magnitude : magnitude;
}

Exponent float_log2_exponent(const Scene& scene) {
  const Rational log2 = log2_of(scene.amax);
  const std::uint32_t word = exact::round_to_float(log2);
  const Rational rounded = exact::float_value(word);
  scene.add("logarithm", rule::scale_arithmetic, "log2 amax",
            fmt::format("{}, in binary32 {} ({})", decimal_text(log2, 12), decimal_text(rounded, 12), word_text(word)),
            rounded);
  return less_emax(floor_of(rounded), "floor(log2 amax)", scene);
}

Rational divisor_of(const Scene& scene) {
  return scene.profile.scale_rule == ScaleRule::floor ? Rational::power_of_two(scene.element.emax) : scene.max;
}

/// The binary32 quotient that the rule looks at.
std::uint32_t tell_quotient(const Scene& scene) {
  const Rational divisor = divisor_of(scene);
  Rational product = scene.amax / divisor;
  std::string what = fmt::format("amax / {}", text_of(divisor));
  if (scene.profile.scale_arithmetic == ScaleArithmetic::fp32_reciprocal) {
    const std::uint32_t reciprocal = exact::round_to_float(Rational(1) / divisor);
    product = scene.amax * exact::float_value(reciprocal);
    what = fmt::format("amax * r, r = 1 / {} in binary32 = {}", text_of(divisor), word_text(reciprocal));
  }
  const std::uint32_t word = exact::round_to_float(product);
  scene.add("quotient", rule::scale_arithmetic, "quotient q",
            fmt::format("{}: {}, in binary32 {} ({})", what, text_of(product), text_of(exact::float_value(word)),
                        word_text(word)),
            exact::float_value(word));
  return word;
}

std::uint8_t code_of_float_quotient(const Scene& scene) {
  const Rational quotient = exact::float_value(tell_quotient(scene));
  if (quotient.is_zero()) {
    scene.add("code", rule::scale_arithmetic, "scale code", "q is 0: code 0", Rational(0));
    return 0;
  }
  switch (scene.profile.scale_rule) {
    case ScaleRule::floor: {
      const int log2 = quotient.floor_log2();
      return code_of({log2, fmt::format("floor(log2 q) = {}", log2)}, scene);
    }
    case ScaleRule::nearest: return code_of(nearest_power(quotient, "q"), scene);
    default: return code_of(smallest_above(quotient, "q"), scene);
  }
}

std::uint8_t code_of_quotient_word(const Scene& scene) {
  const std::uint32_t word = tell_quotient(scene);
  const bool floors = scene.profile.scale_rule == ScaleRule::floor;
  const std::uint32_t field = (floors ? word : word + 0x7FFFFFU) >> 23;
  const auto code = static_cast<std::uint8_t>(std::min<std::uint32_t>(field, e8m0_max));
  scene.add("code", rule::scale_arithmetic, "scale code",
            floors ? fmt::format("{} >> 23 = {}", word_text(word), code)
                   : fmt::format("({} + 0x7fffff) >> 23 = {}", word_text(word), code),
            Rational(code));
  return code;
}

std::uint8_t code_by_word_add(const Scene& scene) {
  const std::uint32_t half_step = 1U << (22 - scene.element.mantissa_bits);
  const auto field = static_cast<int>((scene.amax_bits + half_step) >> 23);
  const std::string sum = fmt::format("({} + 0x{:x}) >> 23 = {}", word_text(scene.amax_bits), half_step, field);
  if (field == e8m0_nan) {
    scene.add("code", rule::scale_arithmetic, "scale code",
              sum + ", which is the NaN code: the whole block becomes NaN", Rational(e8m0_nan));
    return e8m0_nan;
  }
  const int code = std::max(field - scene.element.emax, 0);
  scene.add("code", rule::scale_arithmetic, "scale code",
            fmt::format("{}, less emax {} = {}{}", sum, scene.element.emax, field - scene.element.emax,
                        code == field - scene.element.emax ? "" : ", clamped to 0"),
            Rational(code));
  return static_cast<std::uint8_t>(code);
}

std::uint8_t tell_code(const Scene& scene) {
  const ScaleArithmetic arithmetic = scene.profile.scale_arithmetic;
  switch (rule_has_arithmetic(scene.profile.scale_rule, arithmetic) ? arithmetic : ScaleArithmetic::exact) {
    case ScaleArithmetic::exact: break;
    case ScaleArithmetic::float_log2: return code_of(float_log2_exponent(scene), scene);
    case ScaleArithmetic::fp32_divide:
    case ScaleArithmetic::fp32_reciprocal: return code_of_float_quotient(scene);
    case ScaleArithmetic::fp32_word: return code_of_quotient_word(scene);
    case ScaleArithmetic::word_add: return code_by_word_add(scene);
  }
  return code_of(exact_exponent(scene), scene);
}

}  // namespace

std::uint8_t tell_mx_scale(std::uint32_t amax_bits, Explanation& explanation) {
  const Profile& profile = *explanation.profile;
  const Scene scene{profile,   element_spec(profile.element), exact::magnitudes(profile.element).back(),
                    amax_bits, exact::float_value(amax_bits), explanation.steps};
  const std::uint8_t code = tell_code(scene);
  if (const std::uint8_t plain = clamped(exact_exponent(scene).value); plain != code) {
    scene.add("exact-code", rule::scale_rule, "beware",
              fmt::format("in exact arithmetic {} gives {}: {}", name_of(profile.scale_rule), plain,
                          exact_exponent(scene).text),
              Rational(plain));
  }
  return code;
}

}  // namespace fp4proof::explain
