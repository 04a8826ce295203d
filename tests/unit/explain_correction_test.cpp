// The story of a corrected block against portable::correct(), and explanations worked out by hand.

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "conformance/explain/correction_json.h"
#include "conformance/explain/correction_story.h"
#include "conformance/explain/correction_text.h"
#include "conformance/explain/explain.h"
#include "conformance/explain/number_text.h"
#include "conformance/explain/written_values.h"
#include "formats/philox.h"
#include "formats/spec_profiles.h"
#include "reference/exact/float_word.h"
#include "tests/unit/correction_inputs.h"

namespace fp4proof::explain {
namespace {

using portable::TensorView;

const Profile& profile(std::string_view name) { return *find_profile(name); }
const CorrectionStack& stack(std::string_view name) { return *find_correction_stack(name); }

struct Tensor {
  std::vector<float> values;
  std::vector<std::int64_t> shape;
  TensorView view() const { return portable::view_of(values, shape); }
};

Tensor mixed(std::vector<std::int64_t> shape, std::uint64_t seed) {
  return {portable::mixed_values(portable::element_count_of(shape), seed), std::move(shape)};
}

CorrectionStory explained(std::string_view profile_name, std::string_view stack_name, std::string_view values) {
  const auto words = parse_values(values);
  EXPECT_TRUE(words.ok());
  auto context = context_of_values(profile(profile_name), stack(stack_name), *words, {}, 0);
  EXPECT_TRUE(context.ok()) << context.error().message;
  auto story = explain_correction(profile(profile_name), stack(stack_name), *std::move(context));
  EXPECT_TRUE(story.ok()) << story.error().message;
  return *std::move(story);
}

std::string step_text(const std::vector<Step>& steps, std::string_view id) {
  for (const Step& step : steps)
    if (step.id == id) return step.text;
  return "no step " + std::string(id);
}

std::string repeated(std::string_view first, std::size_t count, std::string_view rest) {
  std::string text(first);
  for (std::size_t i = 0; i < count; ++i) text += "," + std::string(rest);
  return text;
}

// ---------------------------------------------------------------------------------------------------------------------
// Against portable::correct() on the whole tensor
// ---------------------------------------------------------------------------------------------------------------------

void expect_block_as_in_tensor(const Profile& p, const CorrectionStack& s, const Tensor& tensor, int axis,
                               std::int64_t block, const portable::Corrected& corrected,
                               const std::vector<float>& values) {
  constexpr std::uint64_t seed = 7;
  auto context = context_of_tensor(p, s, tensor.view(), {axis, portable::Tail::pad, block}, {std::nullopt, seed});
  ASSERT_TRUE(context.ok()) << context.error().message;
  const auto story = explain_correction(p, s, *std::move(context));
  ASSERT_TRUE(story.ok()) << p.name << " " << s.name << ": " << story.error().message;
  const portable::Geometry& g = corrected.geometry();
  const BlockShape shape = corrected.profile.block;
  const std::int64_t band = block / g.blocks;
  const std::int64_t bands = (g.matrix_rows + shape.rows - 1) / shape.rows;
  const std::int64_t first_row = shape.is_2d() ? band / bands * g.matrix_rows + band % bands * shape.rows : band;
  ASSERT_FALSE(story->elements.empty());
  for (const CorrectedElement& element : story->elements) {
    const std::int64_t row = first_row + element.index / shape.cols;
    const std::int64_t column = block % g.blocks * shape.cols + element.index % shape.cols;
    const auto at = static_cast<std::size_t>(row * g.columns + column);
    ASSERT_EQ(element.value, float_bits(values[at]))
        << p.name << " " << s.name << " row " << row << " column " << column;
    std::uint32_t input = 0;
    portable::load_words(tensor.view(), g.first_element(row) + column * g.inner, 1, 1, &input);
    ASSERT_EQ(element.input, input);
  }
}

void expect_blocks_as_in_tensor(const Profile& p, const CorrectionStack& s, const Tensor& tensor, int axis) {
  portable::CorrectOptions options;
  options.quantize.axis = axis;
  options.quantize.tail = portable::Tail::pad;
  options.quantize.seed = 7;
  const auto corrected = portable::correct(p, s, tensor.view(), options);
  ASSERT_TRUE(corrected.ok()) << corrected.error().message;
  const std::vector<float> values = portable::dequantize(*corrected);
  const portable::Geometry& g = corrected->geometry();
  const std::int64_t rows =
      corrected->profile.block.is_2d()
          ? g.rows / g.matrix_rows *
                ((g.matrix_rows + corrected->profile.block.rows - 1) / corrected->profile.block.rows)
          : g.rows;
  const std::int64_t blocks = rows * g.blocks;
  for (std::int64_t i = 0; i < 6; ++i) {
    const std::int64_t block = random_word(3, Stream::cases, 5, static_cast<std::uint64_t>(i)) % blocks;
    expect_block_as_in_tensor(p, s, tensor, axis, block, *corrected, values);
  }
}

class EveryStack : public testing::TestWithParam<CorrectionStack> {};

/// Every profile of the list that can take the stack; at least one must.
TEST_P(EveryStack, ShowsWhatCorrectMakes) {
  int taken = 0;
  for (const char* name : {"mxfp4/ocp", "mxfp4/rceil", "mxfp4/even", "mxfp4-2d/rceil", "mxfp8-e4m3/ocp", "hif4/gcc",
                           "nvfp4/direct", "nvfp4/tensor-scale", "mxfp4/rceil-sr8"}) {
    const Profile* p = find_profile(name);
    ASSERT_NE(p, nullptr) << name;
    if (!portable::check_stack(*p, GetParam()).ok()) continue;
    ++taken;
    expect_blocks_as_in_tensor(*p, GetParam(), mixed({6, 192}, 1), -1);
    expect_blocks_as_in_tensor(*p, GetParam(), mixed({2, 128, 5}, 2), 1);
    expect_blocks_as_in_tensor(*p, GetParam(), mixed({150, 320}, 3), -1);
  }
  EXPECT_GT(taken, 0);
}

INSTANTIATE_TEST_SUITE_P(Explain, EveryStack, testing::ValuesIn(correction_table), [](const auto& stack_info) {
  return std::regex_replace(std::string(stack_info.param.name), std::regex("[^a-z0-9]"), "_");
});

/// Rows that end inside a macro block and inside a group of four.
TEST(CorrectionStory, TellsShortEnds) {
  for (const char* name : {"mbs", "mbs-64", "resq", "resq-channels", "rfq-l2", "mbs+resq"}) {
    expect_blocks_as_in_tensor(profile("mxfp4/rceil"), stack(name), mixed({5, 141}, 4), -1);
  }
}

TEST(CorrectionStory, TakesTheProductNumber) {
  const Tensor tensor = mixed({2, 64}, 9);
  const CorrectionStack& fresh = stack("hadamard-16-fresh");
  const auto corrected =
      portable::correct(profile("mxfp4/rceil"), fresh, tensor.view(), {.quantize = {}, .product = 12});
  ASSERT_TRUE(corrected.ok());
  const std::vector<float> values = portable::dequantize(*corrected);
  auto context = context_of_tensor(profile("mxfp4/rceil"), fresh, tensor.view(), {-1, portable::Tail::error, 3}, {});
  ASSERT_TRUE(context.ok());
  const auto story = explain_correction(profile("mxfp4/rceil"), fresh, *std::move(context), 12);
  ASSERT_TRUE(story.ok()) << story.error().message;
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(story->elements[i].value, float_bits(values[96 + i]));
}

// ---------------------------------------------------------------------------------------------------------------------
// By hand
// ---------------------------------------------------------------------------------------------------------------------

/// Element 1 of 1, 2, 3, 4, 0, ... without signs: bit 0 of its place is set, so h = 1 subtracts.
TEST(CorrectionStory, HadamardStagesByHand) {
  const CorrectionStory story = explained("mxfp4/rceil", "hadamard-16-plain", "1,2,3,4");
  const HadamardTrace& trace = *story.elements[1].hadamard;
  ASSERT_EQ(trace.stages.size(), 4U);
  const auto value = [&](std::size_t stage) { return float_from_bits(trace.stages[stage].value); };
  EXPECT_EQ(value(0), -1.0F);  // 1 - 2
  EXPECT_EQ(value(1), -2.0F);  // (1 - 2) + (3 - 4)
  EXPECT_EQ(value(2), -2.0F);  // partner 5 is 0
  EXPECT_EQ(value(3), -2.0F);
  EXPECT_EQ(trace.stages[1].partner, 3);
  EXPECT_TRUE(trace.stages[0].subtracts);
  EXPECT_EQ(float_from_bits(trace.value), -0.5F);
}

/// M = 7: q = 6/7 rounded is 0x3F5B6DB7, so b = 10110110 = 182 and k = 1; f M = 438/256 * 7 = 11.9765625 <= 12.
TEST(CorrectionStory, MacroFactorByHand) {
  const CorrectionStory story = explained("mxfp4/rceil", "mbs-32", "1,-7,2");
  const MacroStory& macro = *story.first.macro;
  EXPECT_EQ(macro.quotient, 0x3F5B6DB7U);
  EXPECT_EQ(macro.field, 182);
  EXPECT_EQ(macro.byte, 182);
  EXPECT_FALSE(macro.lowered);
  EXPECT_EQ(macro.k, 1);
  EXPECT_EQ(macro.largest_column, 1);
  EXPECT_EQ(step_text(macro.steps, "macro-limit"), "11.9765625 <= 6 * 2^1: b stays");
  EXPECT_EQ(float_from_bits(story.elements[1].coded), -11.9765625F);
}

/// f M against max 2^k on exact numbers: where it exceeds, the byte is one below the field.
TEST(CorrectionStory, MacroByteIsLoweredWhereFMExceeds) {
  int lowered = 0;
  for (std::uint32_t i = 0; i < 400; ++i) {
    const std::uint32_t m = (random_word(5, Stream::cases, 6, i) & 0x007FFFFFU) | 0x3F800000U;
    const std::uint32_t word = i < 200 ? m : float_bits(6.0F / (1.0F + static_cast<float>(i) / 256.0F)) + i % 3;
    const MacroStory macro = *explained("mxfp4/rceil", "mbs-32", float_text(word)).first.macro;
    ASSERT_TRUE(macro.k.has_value());
    const Rational factor = Rational(256 + macro.field).scaled(-8);
    const bool exceeds = factor * exact::float_value(word) > Rational(6).scaled(*macro.k);
    EXPECT_EQ(macro.lowered, exceeds) << float_text(word);
    EXPECT_EQ(macro.byte, exceeds ? (macro.field + 255) % 256 : macro.field);
    EXPECT_EQ(step_text(macro.steps, "macro-limit").find("exceeds") != std::string::npos, exceeds);
    lowered += exceeds ? 1 : 0;
  }
  EXPECT_GT(lowered, 0);
}

TEST(CorrectionStory, MacroWithoutNumbers) {
  const CorrectionStory story = explained("mxfp4/rceil", "mbs-32", "0,inf");
  EXPECT_EQ(story.first.macro->largest, 0U);
  EXPECT_EQ(story.first.macro->byte, 0);
  EXPECT_EQ(step_text(story.first.macro->steps, "macro-field"), "M = 0: b = 0");
}

/// Under rceil the scale of 6 is 1. 1.25 ties to 1 and 2.75 is nearest to 3: r = 0.25 and -0.25, a tie of three.
TEST(CorrectionStory, MaskTieByHand) {
  const CorrectionStory story = explained("mxfp4/rceil", "resq", "6,1.25,2.75,1.25");
  const auto& elements = story.elements;
  EXPECT_EQ(float_from_bits(elements[1].residual->residual), 0.25F);
  EXPECT_EQ(float_from_bits(elements[2].residual->residual), -0.25F);
  EXPECT_FALSE(elements[0].residual->mask.kept);
  EXPECT_TRUE(elements[1].residual->mask.kept);
  EXPECT_TRUE(elements[2].residual->mask.kept);
  EXPECT_FALSE(elements[3].residual->mask.kept);
  EXPECT_FALSE(elements[0].residual->mask.tie);
  EXPECT_TRUE(elements[3].residual->mask.tie);
  EXPECT_EQ(elements[3].residual->mask.what, "|r| of columns 0..3: 0, 0.25, 0.25, 0.25");
  EXPECT_EQ(elements[3].residual->mask.why,
            "the two largest are kept: columns 1 and 2; a tie at 0.25: the lower column is kept; column 3 is dropped");
  EXPECT_EQ(float_from_bits(elements[1].value), 1.25F);
  EXPECT_EQ(float_from_bits(elements[2].value), 2.75F);
  EXPECT_EQ(float_from_bits(elements[3].value), 1.0F);
  EXPECT_EQ(elements[1].plain_error, Rational(exact::Integer(-1), exact::Integer(1), -2));
  EXPECT_EQ(elements[1].error, Rational());
}

/// The floor scale of 7 is 1: 3/4 * 7 = 5.25 is nearest to 6, and 6 / 0.75 = 8.
TEST(CorrectionStory, ThreeQuartersByHand) {
  const CorrectionStory story = explained("mxfp4/ocp", "three-quarters-rn", "7,1");
  EXPECT_EQ(story.first.block.elements[0].word, float_bits(5.25F));
  EXPECT_EQ(story.elements[0].code, 7);
  EXPECT_EQ(float_from_bits(story.elements[0].value), 8.0F);
  EXPECT_EQ(float_from_bits(story.elements[1].value), 1.0F / 0.75F);  // 0.75 ties to 1, the even code
  EXPECT_EQ(story.elements[0].error, Rational(1));
  EXPECT_EQ(float_from_bits(*story.elements[0].plain), 6.0F);
}

/// mxfp4/ocp of 5, 0.2: scale 1. 5 ties to 4. Ideal scale 5/6: 5 is 6 steps, 0.2 is 0.24 of it, below the tie 0.25.
TEST(Decomposition, ByHand) {
  const auto words = parse_values("5,0.2");
  auto question = block_of_values(profile("mxfp4/ocp"), *words, {}, std::nullopt);
  const auto explanation = explain_block(profile("mxfp4/ocp"), *std::move(question));
  ASSERT_TRUE(explanation.ok());
  const auto block = decompose_block(PlainBlock(*explanation).question());
  ASSERT_TRUE(block.ok());
  EXPECT_EQ(block->factor, 6);
  const ElementDecomposition& five = block->elements[0];
  EXPECT_EQ(five.code, 7);
  EXPECT_EQ(five.ideal, 30.0);
  EXPECT_FALSE(five.in_deadzone);
  EXPECT_EQ(five.terms, (portable::ErrorTerms{-6.0, -6.0, 0.0, 0.0}));
  const ElementDecomposition& small = block->elements[1];
  EXPECT_EQ(small.code, 0);
  EXPECT_TRUE(small.in_deadzone);
  EXPECT_EQ(small.terms.deadzone, -6.0 * double{0.2F});
  EXPECT_EQ(small.terms.grid, 0.0);
  ASSERT_TRUE(block->sums);
  EXPECT_EQ(block->sums->in_deadzone, 1);
  EXPECT_EQ(block->sums->error, 36.0 + small.terms.error * small.terms.error);
}

/// A block shown alone against the decomposition of the tensor that it is.
TEST(Decomposition, IsThatOfTheTensor) {
  for (const Profile& p : profiles()) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const Tensor tensor = mixed({p.block.rows, p.block.cols}, 100 + seed);
      auto question = block_of_tensor(p, tensor.view(), {}, {std::nullopt, 5});
      ASSERT_TRUE(question.ok());
      const auto explanation = explain_block(p, *std::move(question));
      ASSERT_TRUE(explanation.ok());
      if (explanation->elements.empty()) continue;
      const auto block = decompose_block(PlainBlock(*explanation).question());
      ASSERT_TRUE(block.ok()) << block.error().message;
      portable::QuantizeOptions options;
      options.seed = 5;
      const auto whole = portable::decompose(p, tensor.view(), options);
      ASSERT_TRUE(whole.ok());
      ASSERT_TRUE(block->sums);
      EXPECT_EQ(block->sums->error, whole->error) << p.name;
      EXPECT_EQ(block->sums->grid, whole->grid) << p.name;
      EXPECT_EQ(block->sums->in_deadzone, whole->in_deadzone) << p.name;
      EXPECT_EQ(block->sums->excluded, whole->excluded) << p.name;
      std::int64_t in_deadzone = 0;
      for (const ElementDecomposition& element : block->elements) {
        in_deadzone += element.in_deadzone ? 1 : 0;
        const bool has_code = element.level && p.family != Family::hif4;
        EXPECT_EQ(element.code.has_value(), has_code) << p.name << " element " << element.index;
      }
      EXPECT_EQ(in_deadzone, whole->in_deadzone) << p.name;
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Forms and refusals
// ---------------------------------------------------------------------------------------------------------------------

std::set<std::string> documented_rules() {
  std::set<std::string> rules;
  std::ifstream in(std::string(FP4PROOF_SOURCE_DIR) + "/docs/rules-corrections.md");
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const std::regex head("\\*\\*([CD][0-9]+b?)\\.");
  for (auto it = std::sregex_iterator(text.begin(), text.end(), head); it != std::sregex_iterator(); ++it) {
    rules.insert((*it)[1]);
  }
  return rules;
}

TEST(CorrectionText, NamesRulesThatExist) {
  const std::set<std::string> rules = documented_rules();
  ASSERT_EQ(rules.size(), 32U + 8U);
  std::set<std::string> named;
  const std::regex cited("\\b([CD][0-9]+)\\b");
  for (const CorrectionStack& s : correction_stacks()) {
    const char* name = s.three_quarters                    ? "mxfp4/ocp"
                       : s.macro.form == MacroForm::divide ? "mxfp4/even"
                                                           : "mxfp4/rceil";
    const ContextShape shape = context_shape(profile(name), s);
    const CorrectionStory story =
        explained(name, s.name, repeated("1.5", static_cast<std::size_t>(shape.count()) - 1, "0.3"));
    for (const std::optional<int> element : {std::optional<int>(), std::optional<int>(1)}) {
      const std::string text = correction_text(story, {false, false, element, 0});
      for (auto it = std::sregex_iterator(text.begin(), text.end(), cited); it != std::sregex_iterator(); ++it) {
        named.insert((*it)[1]);
      }
    }
  }
  for (const std::string& rule : named) EXPECT_TRUE(rules.contains(rule)) << rule;
  for (const char* rule : {"C10", "C11", "C12", "C14", "C15", "C16", "C17", "C19", "C20", "C21", "C22", "C23", "C24",
                           "C28", "D1", "D2", "D3", "D5", "D7"}) {
    EXPECT_TRUE(named.contains(rule)) << rule;
  }
}

TEST(CorrectionJson, HoldsTheStoryOfTheInnerBlock) {
  const CorrectionStory story = explained("mxfp4/rceil", "resq", "6,1.25,2.75,1.25");
  const nlohmann::json value = correction_json(story);
  EXPECT_EQ(value.at("format"), "fp4proof-explain/1");
  EXPECT_EQ(value.at("elements").size(), 32U);
  EXPECT_EQ(value.at("correction").at("stack").at("name"), "resq");
  const nlohmann::json& element = value.at("correction").at("elements").at(1);
  EXPECT_EQ(element.at("residual").at("residual").at("decimal"), "0.25");
  EXPECT_EQ(element.at("residual").at("kept"), true);
  EXPECT_EQ(element.at("value").at("decimal"), "1.25");
  EXPECT_EQ(value.at("decomposition").at("factor"), 6);
  EXPECT_EQ(value.at("correction").at("residual").at("block").at("rows").size(), 1U);
}

std::string refusal(std::string_view profile_name, std::string_view stack_name, std::size_t count, std::int64_t block) {
  const std::vector<std::uint32_t> values(count, float_bits(1.0F));
  const auto context = context_of_values(profile(profile_name), stack(stack_name), values, {}, block);
  if (context.ok()) return "accepted";
  EXPECT_EQ(context.error().kind, ErrorKind::usage);
  return context.error().message;
}

TEST(CorrectionContext, Refusals) {
  EXPECT_EQ(refusal("mxfp4/rceil", "mbs", 3, 0),
            "3 values for a macro block of stack mbs, which takes 128 in one row; give 128, or a tensor with --from");
  EXPECT_NE(refusal("mxfp4/rceil", "mbs", 129, 0).find("128"), std::string::npos);
  EXPECT_NE(refusal("mxfp4/rceil", "hadamard-64", 32, 0).find("a Hadamard group"), std::string::npos);
  EXPECT_NE(refusal("mxfp4/rceil", "resq", 33, 0).find("at most 32"), std::string::npos);
  EXPECT_NE(refusal("mxfp4/rceil", "mbs", 128, 4).find("(0..3)"), std::string::npos);
  EXPECT_NE(refusal("mxfp4/ocp", "mbs", 128, 0).find("rceil"), std::string::npos);
  EXPECT_EQ(refusal("mxfp4/rceil", "resq", 3, 0), "accepted");
}

}  // namespace
}  // namespace fp4proof::explain
