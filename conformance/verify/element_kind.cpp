#include "conformance/verify/element_kind.h"

#include <cstdlib>

#include "formats/block_codec.h"

namespace fp4proof::verify {

namespace {

std::uint8_t magnitude_code(Element element, std::uint8_t code) {
  return static_cast<std::uint8_t>(code & (element_spec(element).sign_mask() - 1U));
}

/// The scaled magnitude before any rounding; a finite word under a finite scale.
Magnitude scaled(const ElementQuestion& question) {
  const Profile& profile = question.profile;
  const std::uint32_t word = prepared_word(profile, question.word);
  Magnitude m = magnitude_of_bits(word);
  switch (profile.family) {
    case Family::mx: m.exponent -= static_cast<int>(question.scale) - e8m0_bias; break;
    case Family::hif4:
      m = hif4_scaled(profile, hif4_e6m2(question.scale), word);
      m.exponent -= hif4_level2(question.scale, question.column) + hif4_level3(question.scale, question.column);
      break;
    case Family::nvfp4:
      if (question.scale == 0) return {};
      m = quotient(m, product(element_magnitude(element_spec(Element::e4m3), static_cast<std::uint8_t>(question.scale)),
                              magnitude_of_bits(float_bits(question.tensor_scale))));
      break;
  }
  return m;
}

std::uint8_t rounded(const Profile& profile, const Magnitude& m, Rounding rounding) {
  return encode_magnitude(element_spec(profile.element), rounding, m);
}

bool is_tie(const Profile& profile, const Magnitude& m) {
  return rounded(profile, m, Rounding::rna) != rounded(profile, m, Rounding::ties_down);
}

bool is_beyond_largest(const Profile& profile, const Magnitude& m) {
  const ElementSpec spec = element_spec(profile.element);
  return compare(m, element_magnitude(spec, spec.max_code)) > 0;
}

/// Whether rounding to bfloat16 or binary16 first explains the code.
bool is_double_rounding(const Profile& profile, const Magnitude& m, std::uint8_t actual) {
  for (const int precision : {8, 11}) {
    if (rounded(profile, round_to_precision(m, precision), profile.rounding) == actual) return true;
  }
  return false;
}

}  // namespace

std::int64_t code_order(Element element, std::uint8_t code) {
  const std::int64_t magnitude = magnitude_code(element, code);
  return (code & element_spec(element).sign_mask()) != 0 ? -magnitude : magnitude;
}

std::string_view element_kind(const ElementQuestion& question, std::uint8_t expected, std::uint8_t actual) {
  const Profile& profile = question.profile;
  const ElementSpec spec = element_spec(profile.element);
  const std::uint8_t wanted = magnitude_code(profile.element, expected);
  const std::uint8_t given = magnitude_code(profile.element, actual);
  if (actual >> spec.bits() != 0 || given > spec.max_code) return "special-code";
  if (wanted == given) return wanted == 0 ? "sign-of-zero" : "sign";
  if (!is_finite_bits(prepared_word(profile, question.word))) return "special-code";
  const Magnitude m = scaled(question);
  if (is_beyond_largest(profile, m)) return "saturation";
  const bool neighbours = std::abs(int{wanted} - int{given}) == 1;
  if (profile.rounding == Rounding::stochastic) return neighbours ? "random-bits" : "code";
  if (neighbours && is_tie(profile, m)) return "tie";
  const bool plain = profile.element_arithmetic == ElementArithmetic::exact;
  if (neighbours && plain && is_double_rounding(profile, m, given)) return "double-rounding";
  if (neighbours && !plain && rounded(profile, m, profile.rounding) == given) return "no-pre-rounding";
  const bool is_subnormal = wanted < (1U << spec.mantissa_bits);
  if (given == 0 && is_subnormal) return "flushed-subnormal";
  return neighbours ? "neighbour" : "code";
}

}  // namespace fp4proof::verify
