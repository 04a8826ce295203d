#include "conformance/explain/element_story.h"

#include <algorithm>
#include <limits>

#include "conformance/explain/grid_choice.h"
#include "conformance/explain/rules.h"
#include "formats/float_bits.h"
#include "reference/exact/element.h"
#include "reference/exact/float_word.h"

namespace fp4proof::explain {

namespace {

const Rational half = Rational::power_of_two(-1);

const Rational& value_of(Element element, std::uint8_t magnitude_code) {
  return exact::magnitudes(element)[magnitude_code];
}

const Rational& largest(Element element) { return exact::magnitudes(element).back(); }

Level level(Element element, std::uint8_t magnitude_code) {
  return {magnitude_code, value_of(element, magnitude_code)};
}

Between between(const ElementStory& story, const Rational& y) { return {y, story.lower->value, story.upper->value}; }

void find_neighbours(Element element, const Rational& y, ElementStory& story) {
  const exact::Neighbours around = exact::neighbours(element, y);
  story.lower = level(element, around.low);
  story.upper = level(element, around.high);
}

std::uint8_t signed_magnitude(const Profile& profile, std::uint32_t word, std::uint8_t magnitude_code) {
  const std::uint8_t sign = (word & float_sign_mask) != 0 ? element_spec(profile.element).sign_mask() : std::uint8_t{0};
  return static_cast<std::uint8_t>(sign | magnitude_code);
}

/// The spacing of the element's grid in the binade of y.
Rational spacing_at(const ElementSpec& spec, const Rational& y) {
  const int smallest_normal = 1 - spec.bias;
  const int binade = y.is_zero() ? smallest_normal : std::max(y.floor_log2(), smallest_normal);
  return Rational::power_of_two(binade - spec.mantissa_bits);
}

/// The step of the grid at magnitude code `code`: up to the next value, or down from the largest.
Rational step_above(Element element, std::uint8_t code) {
  const auto last = static_cast<std::uint8_t>(exact::magnitudes(element).size() - 1);
  const std::uint8_t lower = std::min<std::uint8_t>(code, static_cast<std::uint8_t>(last - 1));
  return value_of(element, static_cast<std::uint8_t>(lower + 1)) - value_of(element, lower);
}

Draw draw_between(const Profile& profile, std::uint32_t random, const Between& where) {
  Draw draw{random, profile.random_bits, random >> (32 - profile.random_bits), 0};
  const Rational share = (where.y - where.lower) / (where.upper - where.lower);
  draw.fraction = static_cast<std::uint64_t>(share.scaled(draw.bits).floor());
  return draw;
}

struct Verdict {
  Cause cause;
  std::string_view rule;
  std::uint8_t code;
};

Verdict verdict_between(const Profile& profile, const Rational& y, ElementStory& story, std::uint32_t random) {
  const FamilyRules rules = rules_of(profile.family);
  const Between where = between(story, y);
  const std::uint8_t low = story.lower->code;
  const std::uint8_t high = story.upper->code;
  if (profile.rounding == Rounding::rtz) return {Cause::toward_zero, rules.rounding, low};
  if (profile.rounding == Rounding::stochastic) {
    story.draw = draw_between(profile, random, where);
    return {Cause::stochastic, rule::stochastic, story.draw->up() ? high : low};
  }
  const int side = where.beyond_tie().sign();
  const Cause cause = side < 0 ? Cause::below_tie : side > 0 ? Cause::above_tie : Cause::tie;
  return {cause, rules.rounding, nearest_goes_up(where, profile.rounding, low % 2 == 0) ? high : low};
}

/// The decision for y as it stands, its neighbours included.
Verdict verdict_of(const Profile& profile, const Rational& y, ElementStory& story, std::uint32_t random) {
  const FamilyRules rules = rules_of(profile.family);
  find_neighbours(profile.element, y, story);
  const std::uint8_t low = story.lower->code;
  if (y > largest(profile.element)) return {Cause::saturated, rules.saturation, low};
  if (story.lower->code == story.upper->code) return {Cause::on_grid, rules.rounding, low};
  return verdict_between(profile, y, story, random);
}

/// y after the profile's roundings; nothing where there are none. Beyond the range of a format it stays as it is: it
/// saturates either way.
std::optional<Rational> prerounded(ElementArithmetic arithmetic, const Rational& y) {
  const auto rounded = [](const exact::BinaryFormat& format, const Rational& value) {
    return exact::round_to(format, value).value_or(value);
  };
  switch (arithmetic) {
    case ElementArithmetic::bf16: return rounded(exact::bfloat16, y);
    case ElementArithmetic::fp32_bf16: return rounded(exact::bfloat16, rounded(exact::binary32, y));
    case ElementArithmetic::fp32_half_add: return rounded(exact::binary32, y);
    case ElementArithmetic::exact:
    case ElementArithmetic::fp32_distance: break;
  }
  return std::nullopt;
}

Verdict decide_by_half_add(const Profile& profile, const Rational& y, ElementStory& story) {
  const ElementSpec spec = element_spec(profile.element);
  find_neighbours(profile.element, y, story);
  if (y > largest(profile.element)) return {Cause::saturated, rules_of(profile.family).saturation, spec.max_code};
  HalfAdd add;
  add.spacing = spacing_at(spec, y);
  add.steps = y / add.spacing;
  add.sum = exact::float_value(exact::round_to_float(add.steps + half));
  add.whole = static_cast<int>(add.sum.floor());
  const Rational below = add.steps - half;
  const bool tie = below.is_integer() && below.sign() >= 0;
  add.taken_back = profile.rounding == Rounding::rne && tie && below.floor() % 2 == 0;
  if (add.taken_back) --add.whole;
  story.half_add = add;
  const Rational result = std::min(Rational(add.whole) * add.spacing, largest(profile.element));
  return {Cause::half_add, rules_of(profile.family).element_arithmetic, exact::neighbours(profile.element, result).low};
}

std::optional<Rational> float_distance(const Rational& level_value, const Rational& scale, const Rational& magnitude) {
  const std::optional<Rational> reach = exact::round_to(exact::binary32, level_value * scale);
  if (!reach) return std::nullopt;
  return exact::round_to(exact::binary32, (*reach - magnitude).abs());
}

Verdict decide_by_distance(const Profile& profile, const Rational& y, const Rational& scale, ElementStory& story) {
  find_neighbours(profile.element, y, story);
  const Rational magnitude = y * scale;
  std::optional<Rational> best;
  std::uint8_t code = 0;
  for (std::uint8_t c = 0; c <= element_spec(profile.element).max_code; ++c) {
    const std::optional<Rational> distance = float_distance(value_of(profile.element, c), scale, magnitude);
    if (!distance || (best && *distance >= *best)) continue;
    best = distance;
    code = c;
  }
  story.distances = Distances{float_distance(story.lower->value, scale, magnitude),
                              float_distance(story.upper->value, scale, magnitude)};
  return {Cause::distance, rules_of(profile.family).element_arithmetic, code};
}

/// What y itself would give under the profile's rounding.
std::uint8_t code_without_rounding(const Profile& profile, const Rational& y, std::uint32_t random) {
  ElementStory scratch;
  return verdict_of(profile, y, scratch, random).code;
}

Verdict verdict_under(const Profile& profile, const Rational& y, const Rational& scale, std::uint32_t random,
                      ElementStory& story) {
  const Rational& seen = story.rounded ? *story.rounded : y;
  switch (profile.element_arithmetic) {
    case ElementArithmetic::fp32_half_add: return decide_by_half_add(profile, seen, story);
    case ElementArithmetic::fp32_distance: return decide_by_distance(profile, y, scale, story);
    default: return verdict_of(profile, seen, story, random);
  }
}

}  // namespace

ElementStory begin_story(const BlockQuestion& question, int index, std::uint32_t prepared) {
  ElementStory story;
  story.index = index;
  story.given = question.words[static_cast<std::size_t>(index)];
  story.word = prepared;
  return story;
}

void decide(const Profile& profile, const Rational& y, const Rational& decode_scale, std::uint32_t random,
            ElementStory& story) {
  story.scaled = y;
  story.rounded = prerounded(profile.element_arithmetic, y);
  const Verdict verdict = verdict_under(profile, y, decode_scale, random, story);
  story.cause = verdict.cause;
  story.rule = verdict.rule;
  story.code =
      verdict.code == 0 ? zero_code_of(profile, story.word, y) : signed_magnitude(profile, story.word, verdict.code);
  if (profile.element_arithmetic == ElementArithmetic::exact) return;
  const std::uint8_t plain = code_without_rounding(profile, y, random);
  if (plain != verdict.code) story.without_rounding = plain;
}

void clamp_infinity(const Profile& profile, ElementStory& story) {
  settle(Cause::infinity, rules_of(profile.family).infinity,
         signed_magnitude(profile, story.word, element_spec(profile.element).max_code), story);
}

void settle(Cause cause, std::string_view rule, std::uint8_t code, ElementStory& story) {
  story.cause = cause;
  story.rule = rule;
  story.code = code;
}

std::uint8_t zero_code_of(const Profile& profile, std::uint32_t word, const std::optional<Rational>& y) {
  const bool zero_input = (word & float_magnitude_mask) == 0;
  const bool vanishes = y && *y <= Rational::power_of_two(-150);
  switch (profile.zero_sign) {
    case ZeroSign::kept: break;
    case ZeroSign::dropped: return 0;
    case ZeroSign::zero_input_dropped:
      if (zero_input) return 0;
      break;
    case ZeroSign::zero_scaled_dropped:
      if (zero_input || vanishes) return 0;
      break;
  }
  return signed_magnitude(profile, word, 0);
}

void tell_value(const Profile& profile, std::uint32_t value, const std::optional<Rational>& decode_scale,
                ElementStory& story) {
  story.value = value;
  if (!is_finite_bits(value) || !is_finite_bits(story.given)) return;
  story.error = exact::float_value(value) - exact::float_value(story.given);
  if (!story.lower || !decode_scale || decode_scale->is_zero()) return;
  story.steps = *story.error / (step_above(profile.element, story.lower->code) * *decode_scale);
}

}  // namespace fp4proof::explain
