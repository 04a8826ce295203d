// One E4M3 scale a block, and optionally one binary32 scale a tensor.

#include <fmt/format.h>

#include "conformance/explain/element_story.h"
#include "conformance/explain/family_stories.h"
#include "conformance/explain/grid_choice.h"
#include "conformance/explain/number_text.h"
#include "conformance/explain/rules.h"
#include "formats/float_bits.h"
#include "reference/exact/element.h"
#include "reference/exact/float_word.h"
#include "reference/exact/scale.h"

namespace fp4proof::explain {

namespace {

Step tensor_scale_step(const Explanation& explanation, const Rational& tensor_scale) {
  const std::string& source = explanation.question.tensor_scale_source;
  return {"tensor-scale", rule::tensor_scale, "tensor scale",
          fmt::format("T = {} ({}){}", decimal_text(tensor_scale),
                      word_text(float_bits(explanation.question.tensor_scale)), source.empty() ? "" : ", " + source),
          tensor_scale};
}

/// The E4M3 code nearest to the wanted scale.
std::uint8_t tell_rounding(const Rational& wanted, Explanation& explanation) {
  const std::vector<Rational>& levels = exact::magnitudes(Element::e4m3);
  const exact::Neighbours around = exact::neighbours(Element::e4m3, wanted);
  std::uint8_t code = around.low;
  std::string text;
  if (wanted > levels.back()) {
    text = fmt::format("above the largest, {}: code 0x{:02x}", decimal_text(levels.back()), code);
  } else if (around.low == around.high) {
    text = fmt::format("exact: code 0x{:02x}", code);
  } else {
    const Between where{wanted, levels[around.low], levels[around.high]};
    code = nearest_goes_up(where, Rounding::rne, around.low % 2 == 0) ? around.high : around.low;
    text = fmt::format("between {} (0x{:02x}) and {} (0x{:02x}), {}: code 0x{:02x}", decimal_text(where.lower),
                       around.low, decimal_text(where.upper), around.high, nearest_text(where, Rounding::rne), code);
  }
  explanation.steps.push_back({"code", rule::nvfp4_scale, "E4M3", text, Rational(code)});
  return code;
}

std::uint8_t tell_scale(const BlockFacts& facts, const Rational& tensor_scale, Explanation& explanation) {
  if (facts.first_infinity >= 0) {
    explanation.steps.push_back({"code", rules_of(Family::nvfp4).infinity, "scale code",
                                 fmt::format("saturated: 0x{:02x}", e4m3_scale_max), Rational(e4m3_scale_max)});
    return e4m3_scale_max;
  }
  const Rational six = exact::magnitudes(explanation.profile->element).back();
  const Rational wanted = exact::float_value(facts.amax_bits) / (six * tensor_scale);
  explanation.steps.push_back(
      {"wanted", rule::nvfp4_scale, "wanted",
       fmt::format("{} = {}", explanation.profile->tensor_scale ? "amax / (6 * T)" : "amax / 6", decimal_text(wanted)),
       wanted});
  return tell_rounding(wanted, explanation);
}

void tell_element(const Profile& profile, const Rational& scale, std::uint32_t random, ElementStory& story) {
  if (is_nan_bits(story.word)) return settle(Cause::nan_ignored, rules_of(profile.family).nan, 0, story);
  if (is_inf_bits(story.word)) return clamp_infinity(profile, story);
  if (scale.is_zero()) {
    return settle(Cause::zero_scale, rule::nvfp4_zero_scale, zero_code_of(profile, story.word, std::nullopt), story);
  }
  decide(profile, exact::float_value(story.word & float_magnitude_mask) / scale, scale, random, story);
}

}  // namespace

void tell_nvfp4(const BlockFacts& facts, Explanation& explanation) {
  const Profile& profile = *explanation.profile;
  const Rational tensor_scale = exact::float_value(float_bits(explanation.question.tensor_scale));
  if (profile.tensor_scale) explanation.steps.push_back(tensor_scale_step(explanation, tensor_scale));
  const std::uint8_t code = tell_scale(facts, tensor_scale, explanation);
  const Rational block_scale = exact::e4m3_value(code);
  const Rational scale = block_scale * tensor_scale;
  explanation.steps.push_back({"scale", rule::nvfp4_scale, "scale",
                               profile.tensor_scale
                                   ? fmt::format("s = {}, s * T = {}", decimal_text(block_scale), decimal_text(scale))
                                   : fmt::format("s = {}", decimal_text(block_scale)),
                               scale});
  if (code == 0) {
    explanation.steps.push_back(
        {"zero-scale", rule::nvfp4_zero_scale, "zero scale", "the scale is 0: every element becomes zero", {}});
  }
  explanation.row_scales.assign(profile.block.rows, code);
  for (int i = 0; i < profile.block.size(); ++i) {
    ElementStory story = begin_story(explanation.question, i, facts.words[static_cast<std::size_t>(i)]);
    tell_element(profile, scale, random_of(explanation, i), story);
    explanation.elements.push_back(std::move(story));
  }
}

}  // namespace fp4proof::explain
