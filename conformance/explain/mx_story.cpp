// One E8M0 scale a block.

#include <fmt/format.h>

#include "conformance/explain/element_story.h"
#include "conformance/explain/family_stories.h"
#include "conformance/explain/mx_scale_steps.h"
#include "conformance/explain/number_text.h"
#include "conformance/explain/rules.h"
#include "formats/float_bits.h"
#include "formats/three_quarters.h"
#include "reference/exact/float_word.h"
#include "reference/exact/scale.h"

namespace fp4proof::explain {

namespace {

std::uint8_t tell_scale(const BlockFacts& facts, Explanation& explanation) {
  const Profile& profile = *explanation.profile;
  const auto settled = [&](std::string_view rule, const std::string& why, std::uint8_t code) {
    explanation.steps.push_back({"code", rule, "scale code", fmt::format("{}: {}", why, code), Rational(code)});
    return code;
  };
  if (explanation.outcome == Outcome::zeroed) return settled(rules_of(profile.family).nan, "scale-zero", 0);
  if (facts.first_infinity >= 0) {
    return settled(rules_of(profile.family).infinity, "inf_scale_code", profile.inf_scale_code);
  }
  if (facts.amax_bits == 0) return settled(rule::mx_zero_block, "zero_scale_code", profile.zero_scale_code);
  return tell_mx_scale(facts.amax_bits, explanation);
}

/// Every element times zero.
void tell_zeroed(const Profile& profile, ElementStory& story) {
  const ElementSpec spec = element_spec(profile.element);
  const std::string_view rule = rules_of(profile.family).nan;
  const std::uint8_t sign = (story.word & float_sign_mask) != 0 ? spec.sign_mask() : std::uint8_t{0};
  if (is_nan_bits(story.word)) {
    settle(Cause::nan_zeroed, rule, static_cast<std::uint8_t>(sign | spec.max_code), story);
  } else if (is_inf_bits(story.word)) {
    settle(Cause::nan_zeroed, rule, static_cast<std::uint8_t>(spec.sign_mask() | spec.max_code), story);
  } else {
    settle(Cause::zeroed, rule, sign, story);
  }
}

void tell_element(const Profile& profile, const Rational& scale, std::uint32_t random, ElementStory& story) {
  if (is_nan_bits(story.word)) return settle(Cause::nan_ignored, rules_of(profile.family).nan, 0, story);
  if (is_inf_bits(story.word)) return clamp_infinity(profile, story);
  decide(profile, exact::float_value(story.word & float_magnitude_mask) / scale, scale, random, story);
}

void tell_flushed(const Profile& profile, ElementStory& story) {
  const std::uint8_t code = is_nan_bits(story.word) ? 0 : zero_code_of(profile, story.word, std::nullopt);
  settle(Cause::flushed, rule::tiny, code, story);
}

}  // namespace

void tell_mx(const BlockFacts& facts, Explanation& explanation) {
  const Profile& profile = *explanation.profile;
  const std::uint8_t code = tell_scale(facts, explanation);
  if (code == e8m0_nan) {
    explanation.outcome = Outcome::nan;
    return tell_nan_block(facts, rule::scale_arithmetic, e8m0_nan, explanation);
  }
  const Rational scale = exact::e8m0_value(code);
  explanation.steps.push_back(
      {"scale", rule::e8m0, "scale",
       fmt::format("2^({} - {}) = 2^{} = {}", code, e8m0_bias, int{code} - e8m0_bias, decimal_text(scale)), scale});
  const bool zeroed = explanation.outcome == Outcome::zeroed;
  const bool flushed = !zeroed && profile.tiny == TinyPolicy::flush_block && code == 0;
  if (flushed) {
    explanation.steps.push_back({"flush", rule::tiny, "tiny", "scale code 0: the whole block is flushed to zero", {}});
  }
  const bool three_quarters = explanation.question.three_quarters;
  if (three_quarters) {
    explanation.steps.push_back({"three-quarters",
                                 rule::three_quarters,
                                 "3/4",
                                 "elements are RN(0.75 x) under this scale, and decode to RN(v / 0.75)",
                                 {}});
  }
  explanation.row_scales.assign(profile.block.rows, code);
  for (int i = 0; i < profile.block.size(); ++i) {
    const std::uint32_t word = facts.words[static_cast<std::size_t>(i)];
    ElementStory story = begin_story(explanation.question, i, three_quarters ? three_quarters_of(word) : word);
    if (zeroed) {
      tell_zeroed(profile, story);
    } else if (flushed) {
      tell_flushed(profile, story);
    } else {
      tell_element(profile, scale, random_of(explanation, i), story);
    }
    explanation.elements.push_back(std::move(story));
  }
}

}  // namespace fp4proof::explain
