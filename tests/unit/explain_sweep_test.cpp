// The story against the codec: random blocks of every profile, and of random combinations of choices. explain_block()
// itself compares its codes with the codec and fails where they differ; the oracle is asked as well.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "conformance/explain/explain.h"
#include "conformance/explain/explanation_text.h"
#include "conformance/profiles/profile_rules.h"
#include "formats/philox.h"
#include "formats/spec_profiles.h"
#include "reference/exact/block.h"

namespace fp4proof::explain {
namespace {

/// Random words in order; a fresh element of the stream each time.
class Words {
 public:
  explicit Words(std::uint64_t seed) : seed_(seed) {}
  std::uint32_t next() { return random_word(seed_, Stream::cases, 0, next_++); }
  std::uint32_t below(std::uint32_t bound) { return next() % bound; }

 private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

enum class Kind { spread, near_ties, any_bits, specials, extreme, count };

/// A multiple of a sixteenth of 2^exponent, as it is or one word up or down: on and beside every tie.
std::uint32_t near_tie(Words& words, int exponent) {
  const auto sixteenths = static_cast<float>(words.below(130));
  const std::uint32_t word = float_bits(sixteenths / 16.0F * pow2f(exponent));
  const std::uint32_t nudged = word == 0 ? word : word + words.below(3) - 1;
  return nudged | (words.next() & float_sign_mask);
}

std::uint32_t special(Words& words) {
  constexpr std::array<std::uint32_t, 10> table = {0,           0x80000000U, 0x7F800000U, 0xFF800000U, 0x7FC00000U,
                                                   0xFFC00001U, 0x00000001U, 0x80000001U, 0x00800000U, 0x007FFFFFU};
  return words.below(4) == 0 ? table[words.below(table.size())] : near_tie(words, -2);
}

std::uint32_t random_value(Words& words, Kind kind, int exponent) {
  switch (kind) {
    case Kind::spread: {
      const auto field = static_cast<std::uint32_t>(exponent + 127) - words.below(12);
      return (words.next() & 0x807FFFFFU) | (field << 23);
    }
    case Kind::near_ties: return near_tie(words, exponent);
    case Kind::any_bits: return words.below(8) == 0 ? words.next() : words.next() & 0xBFFFFFFFU;
    case Kind::specials: return special(words);
    default: return (words.next() & 0x80FFFFFFU) | (exponent > 0 ? 0x7E000000U : 0U);
  }
}

BlockQuestion random_question(const Profile& profile, Words& words) {
  const auto kind = static_cast<Kind>(words.below(static_cast<std::uint32_t>(Kind::count)));
  const int exponent = static_cast<int>(words.below(200)) - 100;
  BlockQuestion question;
  question.words.resize(static_cast<std::size_t>(profile.block.size()));
  question.given = question.words.size();
  const bool sparse = words.below(4) == 0;
  for (std::uint32_t& word : question.words) {
    word = sparse && words.below(8) != 0 ? 0 : random_value(words, kind, exponent);
  }
  if (profile.rounding == Rounding::stochastic) {
    for (std::size_t i = 0; i < question.words.size(); ++i) question.random.push_back(words.next());
  }
  if (profile.tensor_scale) {
    question.tensor_scale = float_from_bits(exact::tensor_scale_word(profile, question.words));
  }
  return question;
}

/// The scale words of the oracle's block, one a row.
std::uint32_t oracle_row_scale(const Profile& profile, const exact::EncodedBlock& block, int row) {
  if (profile.family != Family::hif4) return block.scale;
  const exact::EncodedBlock one = exact::block_row(profile, block, row);
  std::uint32_t word = one.scale;
  for (std::size_t k = 0; k < one.level2.size(); ++k) word |= std::uint32_t{one.level2[k]} << (8 + k);
  for (std::size_t k = 0; k < one.level3.size(); ++k) word |= std::uint32_t{one.level3[k]} << (16 + k);
  return word;
}

void expect_oracle_agrees(const Explanation& explanation) {
  const Profile& profile = *explanation.profile;
  const BlockQuestion& question = explanation.question;
  const std::uint32_t tensor_scale = float_bits(question.tensor_scale);
  const exact::EncodedBlock block = exact::encode_block(profile, question.words, question.random, tensor_scale);
  const bool refused = explanation.outcome == Outcome::rejected_nan || explanation.outcome == Outcome::rejected_inf;
  ASSERT_EQ(block.rejected, refused) << profile.name;
  if (refused) return;
  const std::vector<std::uint32_t> values = exact::decode_block(profile, block, tensor_scale);
  for (int row = 0; row < profile.block.rows; ++row) {
    ASSERT_EQ(explanation.row_scales[static_cast<std::size_t>(row)], oracle_row_scale(profile, block, row));
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(explanation.elements[i].code, block.codes[i]) << profile.name << " element " << i;
    ASSERT_EQ(explanation.elements[i].value, values[i]) << profile.name << " element " << i;
  }
}

/// Numbers of all rules in the documentation: "MX12" from "**MX12. ..."
std::set<std::string> documented_rules() {
  std::set<std::string> rules;
  for (const char* page : {"rules-mx.md", "rules-hif4.md", "rules-nvfp4.md"}) {
    std::ifstream in(std::string(FP4PROOF_SOURCE_DIR) + "/docs/" + page);
    std::stringstream text;
    text << in.rdbuf();
    const std::string content = text.str();
    const std::regex heading("\\*\\*((MX|HF|NV)[0-9]+)\\.");
    for (auto it = std::sregex_iterator(content.begin(), content.end(), heading); it != std::sregex_iterator(); ++it) {
      rules.insert((*it)[1]);
    }
  }
  return rules;
}

void expect_rules_documented(const Explanation& explanation, const std::set<std::string>& rules) {
  for (const Step& step : explanation.steps) EXPECT_TRUE(rules.contains(std::string(step.rule))) << step.rule;
  for (const ElementStory& story : explanation.elements) {
    ASSERT_TRUE(rules.contains(std::string(story.rule))) << "'" << story.rule << "' " << name_of(story.cause);
  }
}

class EveryProfile : public testing::TestWithParam<Profile> {};

/// 1000 blocks of a one-dimensional profile, 100 tiles of a two-dimensional one: more elements either way.
TEST_P(EveryProfile, TellsWhatTheCodecDoes) {
  const Profile& profile = GetParam();
  const std::set<std::string> rules = documented_rules();
  ASSERT_EQ(rules.size(), 26U + 23U + 16U);
  Words words(std::accumulate(profile.name.begin(), profile.name.end(), std::uint64_t{1}));
  const int blocks = profile.block.is_2d() ? 100 : 1000;
  for (int i = 0; i < blocks; ++i) {
    const Result<Explanation> explanation = explain_block(profile, random_question(profile, words));
    ASSERT_TRUE(explanation.ok()) << explanation.error().message;
    expect_rules_documented(*explanation, rules);
    if (!profile.block.is_2d() || i % 8 == 0) expect_oracle_agrees(*explanation);
    if (i % 50 == 0) {
      EXPECT_FALSE(explanation_text(*explanation).empty());
    }
    if (HasFatalFailure()) return;
  }
}

std::string test_name(const testing::TestParamInfo<Profile>& info) {
  std::string name(info.param.name);
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Profiles, EveryProfile, testing::ValuesIn(profile_table), test_name);

template <class Enum>
void pick(Words& words, Enum& field) {
  field = static_cast<Enum>(words.below(static_cast<std::uint32_t>(EnumNames<Enum>::names.size())));
}

/// Any combination of choices that check_profile() accepts.
Profile random_profile(Words& words) {
  for (;;) {
    Profile p = *find_profile(std::array{"mxfp4/ocp", "mxfp4/ocp", "mxfp8-e4m3/ocp", "hif4/gcc", "hifx5/gcc",
                                         "nvfp4/tensor-scale"}[words.below(6)]);
    p.name = "random";
    pick(words, p.rounding);
    p.random_bits = std::array<std::uint8_t, 3>{8, 16, 32}[words.below(3)];
    pick(words, p.element_arithmetic);
    pick(words, p.input_rounding);
    pick(words, p.nan);
    pick(words, p.inf);
    pick(words, p.zero_sign);
    pick(words, p.nibble_order);
    if (p.family == Family::mx) {
      pick(words, p.tiny);
      pick(words, p.scale_rule);
      pick(words, p.scale_arithmetic);
      p.inf_scale_code = static_cast<std::uint8_t>(words.below(255));
      p.zero_scale_code = static_cast<std::uint8_t>(words.below(255));
    }
    pick(words, p.seventh);
    pick(words, p.scale_rounding);
    pick(words, p.reciprocal);
    pick(words, p.threshold_arithmetic);
    if (check_profile(p).ok()) return p;
  }
}

TEST(AnyCombinationOfChoices, TellsWhatTheCodecDoes) {
  Words words(77);
  std::set<Cause> causes;
  for (int i = 0; i < 6000; ++i) {
    const Profile profile = random_profile(words);
    const Result<Explanation> explanation = explain_block(profile, random_question(profile, words));
    ASSERT_TRUE(explanation.ok()) << explanation.error().message;
    expect_oracle_agrees(*explanation);
    if (HasFatalFailure()) return;
    for (const ElementStory& story : explanation->elements) causes.insert(story.cause);
  }
  EXPECT_EQ(causes.size(), 16U) << "every cause must occur";
}

}  // namespace
}  // namespace fp4proof::explain
