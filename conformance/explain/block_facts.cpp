#include "conformance/explain/block_facts.h"

#include <fmt/format.h>

#include "conformance/explain/number_text.h"
#include "conformance/explain/rules.h"
#include "formats/float_bits.h"
#include "reference/exact/float_word.h"

namespace fp4proof::explain {

namespace {

std::string named_choice(std::string_view field, std::string_view choice) {
  return fmt::format("{} = {}", field, choice);
}

std::string consequence(NanPolicy policy) {
  switch (policy) {
    case NanPolicy::scale_nan: return "the whole block becomes NaN";
    case NanPolicy::ignore: return "NaN counts as absent and is coded +0";
    case NanPolicy::error: return "the block is refused";
    case NanPolicy::scale_zero: return "scale code 0, every element times zero";
  }
  return {};
}

std::string consequence(const Profile& profile) {
  switch (profile.inf) {
    case InfPolicy::scale_nan: return "the whole block becomes NaN";
    case InfPolicy::saturate: return "the scale saturates and infinities clamp";
    case InfPolicy::error: return "the block is refused";
  }
  return {};
}

Outcome outcome_of(NanPolicy policy) {
  switch (policy) {
    case NanPolicy::scale_nan: return Outcome::nan;
    case NanPolicy::error: return Outcome::rejected_nan;
    case NanPolicy::scale_zero: return Outcome::zeroed;
    case NanPolicy::ignore: break;
  }
  return Outcome::quantized;
}

Outcome outcome_of(InfPolicy policy) {
  switch (policy) {
    case InfPolicy::scale_nan: return Outcome::nan;
    case InfPolicy::error: return Outcome::rejected_inf;
    case InfPolicy::saturate: break;
  }
  return Outcome::quantized;
}

Step changed_inputs_step(const Profile& profile, const BlockFacts& facts) {
  const bool rounds = profile.input_rounding == InputRounding::bf16;
  return {"inputs",
          rounds ? rules_of(profile.family).input : rule::flushed_inputs,
          "inputs",
          fmt::format("{}; {} of {} change", rounds ? "rounded to bfloat16 first" : "subnormal ones become zero first",
                      facts.changed_inputs, facts.words.size()),
          {}};
}

Step special_step(const Explanation& explanation, int index, std::string_view field, std::string_view choice,
                  const std::string& effect) {
  const FamilyRules rules = rules_of(explanation.profile->family);
  const bool nan = field == "nan";
  return {field,
          nan ? rules.nan : rules.infinity,
          std::string(nan ? "NaN" : "infinity"),
          fmt::format("{} is {} ({}); {}: {}", place_text(explanation.profile->block, index),
                      float_text(explanation.question.words[static_cast<std::size_t>(index)]),
                      word_text(explanation.question.words[static_cast<std::size_t>(index)]),
                      named_choice(field, choice), effect),
          {}};
}

Step amax_step(const Explanation& explanation, const BlockFacts& facts) {
  const std::string_view rule = rules_of(explanation.profile->family).amax;
  if (facts.amax_index < 0) return {"amax", rule, "amax", "0, no element is finite", Rational()};
  return {"amax", rule, "amax",
          fmt::format("{}, the largest magnitude: {}   {} = {} = {}", float_text(facts.amax_bits),
                      place_text(explanation.profile->block, facts.amax_index), word_text(facts.amax_bits),
                      fields_text(facts.amax_bits), hex_float_text(facts.amax_bits)),
          exact::float_value(facts.amax_bits)};
}

}  // namespace

std::string place_text(const BlockShape& shape, int index) {
  if (!shape.is_2d()) return fmt::format("element {}", index);
  return fmt::format("element {} (row {}, column {})", index, index / shape.cols, index % shape.cols);
}

BlockFacts read_facts(const Profile& profile, const BlockQuestion& question) {
  BlockFacts facts;
  for (int i = 0; i < profile.block.size(); ++i) {
    const std::uint32_t given = question.words[static_cast<std::size_t>(i)];
    const std::uint32_t word = prepared_word(profile, given);
    const std::uint32_t magnitude = word & float_magnitude_mask;
    facts.words.push_back(word);
    if (word != given) ++facts.changed_inputs;
    if (is_nan_bits(word)) {
      if (facts.first_nan < 0) facts.first_nan = i;
    } else if (is_inf_bits(word)) {
      if (facts.first_infinity < 0) facts.first_infinity = i;
    } else if (facts.amax_index < 0 || magnitude > facts.amax_bits) {
      facts.amax_index = i;
      facts.amax_bits = magnitude;
    }
  }
  return facts;
}

void tell_inputs(const BlockFacts& facts, Explanation& explanation) {
  const Profile& profile = *explanation.profile;
  if (profile.rounding == Rounding::stochastic && !explanation.question.random_source.empty()) {
    explanation.steps.push_back({"random", rule::stochastic, "random", explanation.question.random_source, {}});
  }
  const bool changes_inputs = profile.input_rounding != InputRounding::none || profile.tiny == TinyPolicy::flush_inputs;
  if (changes_inputs) explanation.steps.push_back(changed_inputs_step(profile, facts));
  if (facts.first_nan >= 0) {
    explanation.steps.push_back(
        special_step(explanation, facts.first_nan, "nan", name_of(profile.nan), consequence(profile.nan)));
    explanation.outcome = outcome_of(profile.nan);
    if (explanation.outcome != Outcome::quantized) return;
  }
  if (facts.first_infinity >= 0) {
    explanation.steps.push_back(
        special_step(explanation, facts.first_infinity, "inf", name_of(profile.inf), consequence(profile)));
    explanation.outcome = outcome_of(profile.inf);
    if (explanation.outcome != Outcome::quantized) return;
  }
  explanation.steps.push_back(amax_step(explanation, facts));
}

}  // namespace fp4proof::explain
