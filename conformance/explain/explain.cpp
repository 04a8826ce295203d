#include "conformance/explain/explain.h"

#include <fmt/format.h>

#include <utility>

#include "conformance/explain/block_facts.h"
#include "conformance/explain/element_story.h"
#include "conformance/explain/family_stories.h"
#include "conformance/explain/rules.h"
#include "formats/block_codec.h"
#include "formats/strict_math.h"
#include "formats/three_quarters.h"

namespace fp4proof::explain {

namespace {

std::uint32_t nan_scale(Family family) {
  switch (family) {
    case Family::mx: return e8m0_nan;
    case Family::hif4: return e6m2_nan;
    case Family::nvfp4: return e4m3_scale_nan;
  }
  return e8m0_nan;
}

Result<void> check_question(const Profile& profile, const BlockQuestion& question) {
  const auto size = static_cast<std::size_t>(profile.block.size());
  if (question.words.size() != size) {
    return Error{ErrorKind::usage,
                 fmt::format("a block of {} has {} elements, not {}", profile.name, size, question.words.size())};
  }
  const std::size_t wanted = profile.rounding == Rounding::stochastic ? size : 0;
  if (question.random.size() != wanted) {
    return Error{ErrorKind::usage, fmt::format("a block of {} takes {} random words, not {}", profile.name, wanted,
                                               question.random.size())};
  }
  const std::uint32_t tensor_scale = float_bits(question.tensor_scale);
  if (tensor_scale == 0 || tensor_scale >= float_infinity_bits) {
    return Error{ErrorKind::usage, "the tensor scale must be a positive finite number"};
  }
  if (question.three_quarters && profile.family != Family::mx) {
    return Error{ErrorKind::usage, fmt::format("three-quarters is for MX profiles, not for {}", profile.name)};
  }
  return {};
}

void tell_block(const BlockFacts& facts, Explanation& explanation) {
  const Profile& profile = *explanation.profile;
  switch (explanation.outcome) {
    case Outcome::rejected_nan:
    case Outcome::rejected_inf: return;
    case Outcome::nan: {
      const FamilyRules rules = rules_of(profile.family);
      const bool by_nan = facts.first_nan >= 0 && profile.nan == NanPolicy::scale_nan;
      return tell_nan_block(facts, by_nan ? rules.nan : rules.infinity, nan_scale(profile.family), explanation);
    }
    case Outcome::quantized:
    case Outcome::zeroed: break;
  }
  switch (profile.family) {
    case Family::mx: return tell_mx(facts, explanation);
    case Family::hif4: return tell_hif4(facts, explanation);
    case Family::nvfp4: return tell_nvfp4(facts, explanation);
  }
}

/// What the codec says about the same block.
struct CodecAnswer {
  BlockStatus status = BlockStatus::ok;
  std::vector<std::uint32_t> row_scales;
  std::vector<std::uint8_t> codes;
};

CodecAnswer ask_codec(const Profile& profile, const BlockQuestion& question) {
  CodecAnswer answer;
  answer.row_scales.resize(profile.block.rows);
  answer.codes.resize(static_cast<std::size_t>(profile.block.size()));
  const BlockEncoding io{question.words.data(), question.random.empty() ? nullptr : question.random.data(),
                         question.tensor_scale, answer.row_scales.data(), answer.codes.data()};
  answer.status = question.three_quarters ? three_quarters_block(profile, io) : encode_block(profile, io);
  return answer;
}

BlockStatus status_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::rejected_nan: return BlockStatus::rejected_nan;
    case Outcome::rejected_inf: return BlockStatus::rejected_inf;
    default: return BlockStatus::ok;
  }
}

Error told_otherwise(const Profile& profile, const std::string& what) {
  return {ErrorKind::internal, fmt::format("the explanation of {} differs from the codec: {}; please report the inputs",
                                           profile.name, what)};
}

Result<void> compare_with_codec(const Explanation& explanation, const CodecAnswer& codec) {
  const Profile& profile = *explanation.profile;
  if (codec.status != status_of(explanation.outcome)) return told_otherwise(profile, "one of them refuses the block");
  if (codec.status != BlockStatus::ok) return {};
  for (std::size_t row = 0; row < codec.row_scales.size(); ++row) {
    if (explanation.row_scales[row] != codec.row_scales[row]) {
      return told_otherwise(profile, fmt::format("scale of row {}: 0x{:x} against 0x{:x}", row,
                                                 explanation.row_scales[row], codec.row_scales[row]));
    }
  }
  for (std::size_t i = 0; i < codec.codes.size(); ++i) {
    if (explanation.elements[i].code != codec.codes[i]) {
      return told_otherwise(
          profile, fmt::format("element {}, 0x{:08x}: code 0x{:x} against 0x{:x}", i, explanation.elements[i].given,
                               explanation.elements[i].code, codec.codes[i]));
    }
  }
  return {};
}

void tell_values(Explanation& explanation) {
  const Profile& profile = *explanation.profile;
  for (ElementStory& story : explanation.elements) {
    float value = decode_block_element(profile, row_scale_of(explanation, story.index),
                                       explanation.question.tensor_scale, story.index % profile.block.cols, story.code);
    if (explanation.question.three_quarters) value = strict::divide(value, 0.75F);
    tell_value(profile, float_bits(value), decode_scale_of(explanation, story.index), story);
  }
}

}  // namespace

std::uint32_t random_of(const Explanation& explanation, int index) {
  const std::vector<std::uint32_t>& random = explanation.question.random;
  return random.empty() ? 0 : random[static_cast<std::size_t>(index)];
}

void tell_nan_block(const BlockFacts& facts, std::string_view rule, std::uint32_t scale, Explanation& explanation) {
  const Profile& profile = *explanation.profile;
  explanation.row_scales.assign(profile.block.rows, scale);
  for (int i = 0; i < profile.block.size(); ++i) {
    ElementStory story = begin_story(explanation.question, i, facts.words[static_cast<std::size_t>(i)]);
    settle(Cause::block_nan, rule, 0, story);
    explanation.elements.push_back(std::move(story));
  }
}

Result<Explanation> explain_block(const Profile& profile, BlockQuestion question) {
  if (const Result<void> fits = check_question(profile, question); !fits) return fits.error();
  Explanation explanation;
  explanation.profile = &profile;
  explanation.question = std::move(question);
  const BlockFacts facts = read_facts(profile, explanation.question);
  tell_inputs(facts, explanation);
  tell_block(facts, explanation);
  const CodecAnswer codec = ask_codec(profile, explanation.question);
  if (const Result<void> same = compare_with_codec(explanation, codec); !same) return same.error();
  tell_values(explanation);
  return explanation;
}

}  // namespace fp4proof::explain
