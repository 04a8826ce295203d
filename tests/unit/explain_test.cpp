// Explanations whose every number was worked out by hand, and the forms that they are shown in.

#include "conformance/explain/explain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "conformance/explain/block_bytes.h"
#include "conformance/explain/block_source.h"
#include "conformance/explain/explanation_json.h"
#include "conformance/explain/explanation_text.h"
#include "conformance/explain/number_text.h"
#include "conformance/explain/written_values.h"
#include "formats/spec_profiles.h"
#include "reference/exact/float_word.h"
#include "reference/portable/quantize.h"

namespace fp4proof::explain {
namespace {

const Profile& profile(std::string_view name) { return *find_profile(name); }

Explanation explained(const Profile& p, std::string_view values, Randomness randomness = {},
                      std::optional<float> tensor_scale = std::nullopt) {
  const auto words = parse_values(values);
  EXPECT_TRUE(words.ok());
  auto question = block_of_values(p, *words, randomness, tensor_scale);
  EXPECT_TRUE(question.ok());
  Result<Explanation> explanation = explain_block(p, *std::move(question));
  EXPECT_TRUE(explanation.ok()) << explanation.error().message;
  return *std::move(explanation);
}

Explanation explained(std::string_view name, std::string_view values) { return explained(profile(name), values); }

const Step* find_step(const Explanation& explanation, std::string_view id) {
  const auto at =
      std::find_if(explanation.steps.begin(), explanation.steps.end(), [&](const Step& step) { return step.id == id; });
  return at == explanation.steps.end() ? nullptr : &*at;
}

std::string step_text(const Explanation& explanation, std::string_view id) {
  const Step* step = find_step(explanation, id);
  return step != nullptr ? step->text : "no step " + std::string(id);
}

std::vector<int> first_codes(const Explanation& explanation, std::size_t count) {
  std::vector<int> codes;
  for (std::size_t i = 0; i < count; ++i) codes.push_back(explanation.elements[i].code);
  return codes;
}

using Codes = std::vector<int>;

// ---------------------------------------------------------------------------------------------------------------------
// Numbers
// ---------------------------------------------------------------------------------------------------------------------

TEST(NumberText, DecimalsAreCutNeverRounded) {
  EXPECT_EQ(decimal_text(Rational(2) / Rational(3), 4), "0.6666...");
  EXPECT_EQ(decimal_text(Rational(-2) / Rational(3), 4), "-0.6666...");
  EXPECT_EQ(decimal_text(Rational(1) / Rational(8)), "0.125");
  EXPECT_EQ(decimal_text(Rational(0)), "0");
  EXPECT_EQ(decimal_text(Rational(448)), "448");
  EXPECT_EQ(decimal_text(Rational(1200)), "1200");
  EXPECT_EQ(decimal_text(Rational(123456), 3), "1.23...e5");
  EXPECT_EQ(decimal_text(Rational(123), 3), "123");
  EXPECT_EQ(decimal_text(Rational(1235) / Rational(10), 3), "123...");
  EXPECT_EQ(decimal_text(Rational::power_of_two(-149)), "1.40129846...e-45");
  EXPECT_EQ(decimal_text(Rational::power_of_two(127)), "1.70141183...e38");
  EXPECT_EQ(decimal_text(Rational(1) / Rational(100000)), "0.00001");
  EXPECT_EQ(decimal_text(Rational(1) / Rational(1000000)), "1e-6");
}

TEST(NumberText, ExactForms) {
  EXPECT_EQ(exact_text(Rational(6)), "0x1.8p+2");
  EXPECT_EQ(exact_text(Rational(-1)), "-0x1p+0");
  EXPECT_EQ(exact_text(Rational(0)), "0x0p+0");
  EXPECT_EQ(exact_text(Rational(5) / Rational(7)), "0x1.4p+2/7");
  EXPECT_EQ(exact_text(Rational(1) / Rational(12)), "0x1p-2/3");
  EXPECT_EQ(hex_float_text(0x3DCCCCCDU), "0x1.99999ap-4");
  EXPECT_EQ(hex_float_text(0x80000001U), "-0x1p-149");
  EXPECT_EQ(hex_float_text(0x80000000U), "-0x0p+0");
  EXPECT_EQ(float_text(0x3DCCCCCDU), "0.1");
  EXPECT_EQ(float_text(0xFF800000U), "-inf");
  EXPECT_EQ(fields_text(0xC0E00000U), "1.10000001.11000000000000000000000");
}

TEST(WrittenValues, EveryForm) {
  const auto words = parse_values("0.5, -6,0x1.8p+2,0x40c00000 ,nan,-inf,+2,-0,0x7,1e-45,-0x1p-149");
  ASSERT_TRUE(words.ok()) << words.error().message;
  EXPECT_EQ(*words, (std::vector<std::uint32_t>{0x3F000000U, 0xC0C00000U, 0x40C00000U, 0x40C00000U, 0x7FC00000U,
                                                0xFF800000U, 0x40000000U, 0x80000000U, 7U, 1U, 0x80000001U}));
  const auto random = parse_words("0xffffffff 17");
  ASSERT_TRUE(random.ok());
  EXPECT_EQ(*random, (std::vector<std::uint32_t>{0xFFFFFFFFU, 17U}));
}

TEST(WrittenValues, RefusesEverythingElse) {
  for (const char* text : {"", " , ", "x", "1,two", "0x", "0x123456789", "-0x40c00000", "1e60", "1e-60", "--1", "+-1",
                           "1.5f", "0x1.8p", "0x1.8p+2z", "-", "1;2"}) {
    const auto words = parse_values(text);
    ASSERT_FALSE(words.ok()) << text;
    EXPECT_EQ(words.error().kind, ErrorKind::usage);
  }
  EXPECT_EQ(parse_values("1,1e60").error().message, "\"1e60\" does not fit binary32; write inf or 0 if that is meant");
  EXPECT_FALSE(parse_words("-1").ok());
  EXPECT_FALSE(parse_words("4294967296").ok());
}

// ---------------------------------------------------------------------------------------------------------------------
// Public faults, right answers
// ---------------------------------------------------------------------------------------------------------------------

TEST(Mx, EvenElementStandsInTheLowNibble) {
  const Explanation e = explained("mxfp4/ocp", "0.5,6");
  EXPECT_EQ(e.row_scales, std::vector<std::uint32_t>{127});
  EXPECT_EQ(row_bytes(e, 0).codes[0], 0x71);
  EXPECT_EQ(step_text(e, "rule"), "floor(log2 amax) - emax = 2 - 2 = 0");
}

TEST(Mx, TheFirstOfEqualMagnitudesIsNamed) {
  EXPECT_EQ(step_text(explained("mxfp4/ocp", "1,-3,3"), "amax"),
            "3, the largest magnitude: element 1   0x40400000 = 0.10000000.10000000000000000000000 = 0x1.8p+1");
}

TEST(Mx, ElementTiesOfE2M1) {
  const Explanation e = explained("mxfp4/ocp", "6,0.25,0.75,1.25,1.75,2.5,3.5,5,-5");
  EXPECT_EQ(first_codes(e, 9), (Codes{7, 0, 2, 2, 4, 4, 6, 6, 14}));
  for (std::size_t i = 1; i < 9; ++i) EXPECT_EQ(e.elements[i].cause, Cause::tie) << i;
  EXPECT_EQ(e.elements[7].lower->value, Rational(4));
  EXPECT_EQ(e.elements[7].upper->value, Rational(6));
  EXPECT_EQ(*e.elements[7].error, Rational(-1));
  EXPECT_EQ(*e.elements[7].steps, Rational(-1) / Rational(2));
  const Explanation away = explained("mxfp4/microxcaling-cpp", "6,0.25,0.75,5,-0.2");
  EXPECT_EQ(first_codes(away, 5), (Codes{7, 1, 2, 7, 0}));
}

TEST(Mx, OneUlpBesideATie) {
  const Explanation e = explained("mxfp4/ocp", "6,0x3e7fffff,0x3e800001");
  EXPECT_EQ(e.elements[1].cause, Cause::below_tie);
  EXPECT_EQ(e.elements[2].cause, Cause::above_tie);
  EXPECT_EQ(first_codes(e, 3), (Codes{7, 0, 1}));
}

TEST(Mx, TritonQuestionBlock) {
  const Explanation e = explained("mxfp4/ocp", "6,0,.24,.25,.75,.99,1.2,1.3");
  EXPECT_EQ(e.row_scales[0], 127U);
  EXPECT_EQ(first_codes(e, 8), (Codes{7, 0, 0, 0, 2, 2, 2, 3}));
}

TEST(Mx, WiderElements) {
  EXPECT_EQ(explained("mxfp6-e2m3/ocp", "1.0").row_scales[0], 125U);
  const Explanation mlx = explained("mxfp8-e4m3/rceil", "600");
  EXPECT_EQ(mlx.row_scales[0], 128U);
  EXPECT_EQ(mlx.elements[0].code, 0x79);  // 300 lies between 288 and 320, below the tie 304
  EXPECT_EQ(mlx.elements[0].lower->value, Rational(288));
  const Explanation floors = explained("mxfp8-e4m3/ocp", "960,957");
  EXPECT_EQ(floors.row_scales[0], 128U);
  EXPECT_EQ(floors.elements[1].cause, Cause::saturated);
  EXPECT_EQ(floors.elements[1].code, 0x7E);
  EXPECT_EQ(float_from_bits(floors.elements[1].value), 896.0F);
  const Explanation fits = explained("mxfp8-e4m3/rceil", "960,957");
  EXPECT_EQ(fits.row_scales[0], 129U);
  EXPECT_EQ(fits.elements[1].code, 0x77);
  EXPECT_EQ(float_from_bits(fits.elements[1].value), 960.0F);
  EXPECT_EQ(explained("mxfp4/ocp", "65536").row_scales[0], 141U);
}

struct RuleRow {
  const char* amax;
  std::array<std::uint32_t, 5> codes;  // floor ceil rceil even nearest
};

/// The table of MX13.
TEST(Mx, ScaleRules) {
  const std::array profiles = {"mxfp4/ocp", "mxfp4/ceil", "mxfp4/rceil", "mxfp4/even", "mxfp4/nearest"};
  for (const RuleRow& row : {RuleRow{"4", {127, 127, 127, 127, 126}}, RuleRow{"6", {127, 128, 127, 127, 127}},
                             RuleRow{"6.5", {127, 128, 128, 127, 127}}, RuleRow{"7", {127, 128, 128, 128, 127}},
                             RuleRow{"9", {128, 129, 128, 128, 128}}, RuleRow{"18", {129, 130, 129, 129, 128}}}) {
    for (std::size_t i = 0; i < profiles.size(); ++i) {
      EXPECT_EQ(explained(profiles[i], row.amax).row_scales[0], row.codes[i]) << profiles[i] << " " << row.amax;
    }
  }
  EXPECT_EQ(step_text(explained("mxfp4/nearest", "9"), "rule"),
            "amax / 6 = 1.5 * 2^0, a tie at 1.5, to the even code 128: e = 1");
  EXPECT_EQ(step_text(explained("mxfp4/rceil", "7"), "rule"),
            "smallest e with amax / 6 <= 2^e: 2^0 < 1.16666666... <= 2^1, e = 1");
  EXPECT_EQ(step_text(explained("mxfp4/even", "7"), "rule"),
            "amax = 1.75 * 2^2, significand to 1 fraction bit, ties up: 2; floor(log2) - emax = 3 - 2 = 1");
}

/// log2(8 - 2^-21) = 3 - 8.6e-8, half a binary32 step under 3 is 1.2e-7: it rounds to 3. One step under 4 is not lost.
TEST(Mx, FloatLogarithmJustUnderAPowerOfTwo) {
  const Explanation e = explained("mxfp4/microxcaling-python", "0x40ffffff");
  EXPECT_EQ(e.row_scales[0], 128U);
  EXPECT_EQ(step_text(e, "logarithm"), "2.99999991400..., in binary32 3 (0x40400000)");
  EXPECT_EQ(*find_step(e, "exact-code")->value, Rational(127));
  const Explanation right = explained("mxfp4/microxcaling-python", "0x407fffff");
  EXPECT_EQ(right.row_scales[0], 126U);
  EXPECT_EQ(find_step(right, "exact-code"), nullptr);
}

TEST(Mx, ScaleArithmetics) {
  EXPECT_EQ(explained("mxfp4/cuda-rceil", "0x01400001").row_scales[0], 0U);
  EXPECT_EQ(explained("mxfp4/rceil", "0x01400001").row_scales[0], 1U);
  const Explanation triton = explained("mxfp4/triton-round-up", "0x00400000");
  EXPECT_EQ(triton.row_scales[0], 1U);
  EXPECT_EQ(*find_step(triton, "exact-code")->value, Rational(0));
  const Explanation ao = explained("mxfp4/torchao-2026-08-even", "0x7f600000");
  EXPECT_EQ(ao.outcome, Outcome::nan);
  EXPECT_EQ(ao.row_scales[0], 255U);
  EXPECT_EQ(*find_step(ao, "exact-code")->value, Rational(253));
}

TEST(Mx, ClampedAndFlushedBlocks) {
  const Explanation tiny = explained("mxfp4/ocp", "0x00000001");
  EXPECT_EQ(tiny.row_scales[0], 0U);
  EXPECT_EQ(step_text(tiny, "code"), "-151 + 127 = -24, clamped to 0");
  const Explanation flushed = explained("mxfp4/triton-round-down", "0x00000005,-1e-45");
  EXPECT_EQ(flushed.elements[0].cause, Cause::flushed);
  EXPECT_EQ(first_codes(flushed, 2), (Codes{0, 8}));
  const Explanation zero = explained("mxfp4/ocp", "0,-0");
  EXPECT_EQ(zero.row_scales[0], 0U);
  EXPECT_EQ(step_text(zero, "code"), "zero_scale_code: 0");
  EXPECT_EQ(first_codes(zero, 2), (Codes{0, 8}));
}

/// 0.25 less one ulp: 0.49999997 steps, + 0.5 rounds to 1 in binary32.
TEST(Mx, HalfAddedInBinary32) {
  const Explanation e = explained("mxfp4/microxcaling-python", "6,0x3e7fffff,0.25");
  EXPECT_EQ(first_codes(e, 3), (Codes{7, 1, 1}));
  EXPECT_EQ(e.elements[1].half_add->sum, Rational(1));
  EXPECT_EQ(e.elements[1].without_rounding, std::optional<std::uint8_t>(0));
  EXPECT_FALSE(e.elements[2].without_rounding.has_value());
  const Explanation even = explained("mxfp4/microxcaling-python-even", "6,0.25");
  EXPECT_EQ(even.elements[1].code, 0);
  EXPECT_TRUE(even.elements[1].half_add->taken_back);
}

TEST(Mx, NearestByDistanceTakesTheFirst) {
  const Explanation e = explained("mxfp4/ggml", "6,-0.25,nan");
  EXPECT_EQ(first_codes(e, 3), (Codes{7, 0, 0}));
  EXPECT_EQ(*e.elements[1].distances->lower, *e.elements[1].distances->upper);
  EXPECT_EQ(e.elements[2].cause, Cause::nan_ignored);
}

// ---------------------------------------------------------------------------------------------------------------------
// Special values
// ---------------------------------------------------------------------------------------------------------------------

TEST(SpecialValues, TheFirstNanAndThePolicyAreNamed) {
  const Explanation e = explained("mxfp4/ocp", "1,-inf,nan,nan");
  EXPECT_EQ(e.outcome, Outcome::nan);
  EXPECT_EQ(e.row_scales[0], 255U);
  EXPECT_EQ(step_text(e, "nan"), "element 2 is nan (0x7fc00000); nan = scale-nan: the whole block becomes NaN");
  const Explanation inf = explained("mxfp4/ocp", "1,-inf");
  EXPECT_EQ(step_text(inf, "inf"), "element 1 is -inf (0xff800000); inf = scale-nan: the whole block becomes NaN");
  EXPECT_EQ(explained("hif4/gcc", "nan").row_scales[0], 0xFFU);
  EXPECT_EQ(explained("nvfp4/direct", "inf").row_scales[0], 0x7FU);
}

TEST(SpecialValues, InfinitySaturates) {
  const Explanation e = explained("mxfp4/cuda-floor", "1,-inf");
  EXPECT_EQ(e.row_scales[0], 252U);
  EXPECT_EQ(first_codes(e, 2), (Codes{0, 15}));
  EXPECT_EQ(e.elements[1].cause, Cause::infinity);
}

TEST(SpecialValues, NanTimesZero) {
  const Explanation e = explained("mxfp4/triton-round-up", "1,nan,inf,-0.5,0xffc00000");
  EXPECT_EQ(e.outcome, Outcome::zeroed);
  EXPECT_EQ(first_codes(e, 5), (Codes{0, 7, 15, 8, 15}));
}

TEST(SpecialValues, RefusedBlocksAreExplained) {
  Profile strict = profile("mxfp4/ocp");
  strict.nan = NanPolicy::error;
  strict.inf = InfPolicy::error;
  const Explanation nan = explained(strict, "inf,nan");
  EXPECT_EQ(nan.outcome, Outcome::rejected_nan);
  EXPECT_TRUE(nan.elements.empty());
  EXPECT_NE(explanation_text(nan).find("The block is refused"), std::string::npos);
  EXPECT_EQ(explained(strict, "inf").outcome, Outcome::rejected_inf);
}

// ---------------------------------------------------------------------------------------------------------------------
// HiF4 and NVFP4
// ---------------------------------------------------------------------------------------------------------------------

const LevelBit& level_bit(const Explanation& explanation, int level, int column) {
  return *std::find_if(explanation.level_bits.begin(), explanation.level_bits.end(), [&](const LevelBit& bit) {
    return bit.level == level && bit.cell_row == 0 && bit.cell_column == column;
  });
}

/// amax 7: SF = 0.99804..., E6M2 1, REC 1. So products are the inputs, and 4 and 2 meet the thresholds exactly.
TEST(Hif4, ThresholdEqualitySetsTheBit) {
  const Explanation e = explained("hif4/gcc", "7,0,0,0,0,0,0,0, 4,0,0,0,2,0,0,0, 2,0,0,0,1.9999999,0,0,0, 3.9999998");
  EXPECT_EQ(e.row_scales[0], 0x005500C0U | 0x0300U | (0x01U << 22));
  EXPECT_EQ(level_bit(e, 2, 1).compared, Rational(4));
  EXPECT_TRUE(level_bit(e, 2, 1).bit);
  EXPECT_TRUE(level_bit(e, 3, 2).bit);   // 4 / 2 = 2
  EXPECT_FALSE(level_bit(e, 3, 3).bit);  // 2 / 2 = 1
  EXPECT_FALSE(level_bit(e, 2, 2).bit);
  EXPECT_TRUE(level_bit(e, 3, 4).bit);   // 2
  EXPECT_FALSE(level_bit(e, 3, 5).bit);  // 1.9999999
  EXPECT_FALSE(level_bit(e, 2, 3).bit);  // 3.9999998
  EXPECT_TRUE(level_bit(e, 3, 6).bit);
}

/// The worked group of docs/rules-hif4.md.
TEST(Hif4, WorkedGroup) {
  const Explanation e = explained("hif4/gcc", "10,-3,0.7,0.1,2,1,0.5,0.25,5");
  EXPECT_EQ(e.row_scales[0], 0x000501C2U);
  EXPECT_EQ(first_codes(e, 9), (Codes{7, 0xA, 0, 0, 3, 1, 1, 0, 7}));
  EXPECT_EQ(step_text(e, "product-bfloat16"), "between 1.421875 and 1.4296875, a tie, to even: 1.421875");
  EXPECT_EQ(step_text(e, "code"), "between 1.25 (0xc1) and 1.5 (0xc2), above the tie 1.375 by 0.046875: code 0xc2");
  EXPECT_EQ(float_from_bits(e.elements[0].value), 10.5F);
  EXPECT_EQ(float_from_bits(e.elements[1].value), -3.0F);
  EXPECT_EQ(float_from_bits(e.elements[4].value), 2.25F);
  EXPECT_EQ(float_from_bits(e.elements[8].value), 5.25F);
  EXPECT_EQ(row_bytes(e, 0).scale, (std::vector<std::uint8_t>{0xC2, 0x01, 0x05, 0x00}));
}

/// E6M2 ties 1.125 1.375 1.625 1.875: to even 1 1.5 1.5 2, up 1.25 1.5 1.75 2. amax = 7 * tie exactly.
TEST(Hif4, TiesOfTheScale) {
  Profile up = profile("hif4/exact");
  up.scale_rounding = Rounding::rna;
  const std::array<const char*, 4> values = {"7.875", "9.625", "11.375", "13.125"};
  const std::array<std::uint32_t, 4> even = {0xC0, 0xC2, 0xC2, 0xC4};
  const std::array<std::uint32_t, 4> away = {0xC1, 0xC2, 0xC3, 0xC4};
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(explained("hif4/exact", values[i]).row_scales[0] & 0xFFU, even[i]) << values[i];
    EXPECT_EQ(explained(up, values[i]).row_scales[0] & 0xFFU, away[i]) << values[i];
  }
}

TEST(Hif4, ZeroGroupAndSigns) {
  const Explanation e = explained("hif4/gcc", "0,-0");
  EXPECT_EQ(e.row_scales[0], 0U);
  EXPECT_NE(find_step(e, "zero"), nullptr);
  EXPECT_EQ(first_codes(e, 2), (Codes{0, 0}));
  EXPECT_EQ(explained("hif4/gcc", "7,-0.01").elements[1].code, 8);
}

/// y = 0.1249 rounds up to the tie 0.125 in bfloat16 and then away from zero.
TEST(Hif4, DoubleRoundingIsNamed) {
  const Explanation e = explained("hif4/amct", "7,0x3effdfff");  // 0.49975...; REC 1, levels 2: y = 0.124939
  EXPECT_EQ(*e.elements[1].rounded, Rational(1) / Rational(8));
  EXPECT_EQ(e.elements[1].code, 1);
  EXPECT_EQ(e.elements[1].without_rounding, std::optional<std::uint8_t>(0));
}

TEST(Nvfp4, WorkedBlockAndTensorScale) {
  const Explanation e = explained("nvfp4/direct", "10,-3,0.7,0.1,2,1,0.5,0.25,5");
  EXPECT_EQ(e.row_scales[0], 0x3DU);
  EXPECT_EQ(first_codes(e, 9), (Codes{7, 0xC, 1, 0, 2, 1, 1, 0, 5}));
  EXPECT_EQ(*e.elements[1].scaled, Rational(24) / Rational(13));
  const Explanation scaled = explained("nvfp4/tensor-scale", "2688");
  EXPECT_EQ(*find_step(scaled, "tensor-scale")->value, Rational(1));
  EXPECT_EQ(scaled.row_scales[0], 0x7EU);
  const Explanation given = explained(profile("nvfp4/tensor-scale"), "6", {}, 2.0F);
  EXPECT_EQ(given.row_scales[0], 0x30U);                                                     // 6 / 12 = 0.5
  EXPECT_EQ(explained("nvfp4/direct", "0.005859375").elements[0].cause, Cause::zero_scale);  // 6 * 2^-10, a tie at 0
}

// ---------------------------------------------------------------------------------------------------------------------
// Stochastic rounding
// ---------------------------------------------------------------------------------------------------------------------

/// 2.25 lies a quarter of the way from 2 to 3: fraction 64 of 256; up from u = 192.
TEST(Stochastic, FractionPlusRandomBits) {
  Randomness randomness;
  randomness.words = {0U, 0xBF000000U, 0xC0000000U, 0xFFFFFFFFU};
  const Explanation e = explained(profile("mxfp4/rceil-sr8"), "2.25,2.25,2.25,6", randomness);
  EXPECT_EQ(first_codes(e, 4), (Codes{4, 4, 5, 7}));
  EXPECT_EQ(e.elements[1].draw->fraction, 64U);
  EXPECT_EQ(e.elements[1].draw->u, 191U);
  EXPECT_EQ(e.elements[3].cause, Cause::on_grid);
}

TEST(Stochastic, RandomWordsAreRefusedWhereNoneAreTaken) {
  Randomness randomness;
  randomness.words = {1U};
  const std::vector<std::uint32_t> two = {0x3F800000U, 0x3F800000U};
  EXPECT_FALSE(block_of_values(profile("mxfp4/ocp"), two, randomness, std::nullopt).ok());
  EXPECT_FALSE(block_of_values(profile("mxfp4/ocp-sr"), two, randomness, std::nullopt).ok());
  EXPECT_FALSE(block_of_values(profile("nvfp4/direct"), two, {}, 1.0F).ok());
}

// ---------------------------------------------------------------------------------------------------------------------
// Blocks of tensors
// ---------------------------------------------------------------------------------------------------------------------

std::vector<float> some_tensor(std::size_t count) {
  std::vector<float> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(random_normal(5, Stream::cases, 0, i) * 3.0F);
  return values;
}

/// Every block of a tensor against the codes that the tensor quantizer stores.
void expect_blocks_of(const Profile& p, const std::vector<std::int64_t>& shape, int axis) {
  const std::vector<float> values = some_tensor(static_cast<std::size_t>(portable::element_count_of(shape)));
  const portable::TensorView view{portable::DType::f32, shape, reinterpret_cast<const std::byte*>(values.data())};
  portable::QuantizeOptions options;
  options.axis = axis;
  options.tail = portable::Tail::pad;
  options.seed = 9;
  const auto quantized = portable::quantize(p, view, options);
  ASSERT_TRUE(quantized.ok());
  const portable::Geometry& g = quantized->geometry;
  const std::int64_t rows_of_block = p.block.rows;
  const std::int64_t bands = (g.matrix_rows + rows_of_block - 1) / rows_of_block;
  const std::int64_t count = g.rows / g.matrix_rows * bands * g.blocks;
  for (std::int64_t b = 0; b < count; ++b) {
    Randomness randomness;
    randomness.seed = 9;
    auto question = block_of_tensor(p, view, {axis, portable::Tail::pad, b}, randomness);
    ASSERT_TRUE(question.ok()) << question.error().message;
    const auto explanation = explain_block(p, *std::move(question));
    ASSERT_TRUE(explanation.ok()) << explanation.error().message;
    const std::int64_t band = b / g.blocks;
    const std::int64_t first_row = band / bands * g.matrix_rows + band % bands * rows_of_block;
    for (int r = 0; r < p.block.rows && band % bands * rows_of_block + r < g.matrix_rows; ++r) {
      const auto bytes = row_bytes(*explanation, r).codes;
      const auto at = static_cast<std::ptrdiff_t>((first_row + r) * g.code_bytes_per_row +
                                                  b % g.blocks * static_cast<std::int64_t>(bytes.size()));
      ASSERT_TRUE(std::equal(bytes.begin(), bytes.end(), quantized->codes.begin() + at)) << p.name << " block " << b;
    }
  }
  EXPECT_FALSE(block_of_tensor(p, view, {axis, portable::Tail::pad, count}, {}).ok());
}

TEST(BlockOfTensor, IsWhatTheQuantizerEncodes) {
  expect_blocks_of(profile("mxfp4/ocp"), {3, 80}, -1);
  expect_blocks_of(profile("mxfp4/ocp-sr"), {2, 64, 3}, 1);
  expect_blocks_of(profile("mxfp4-2d/rceil-sr"), {2, 40, 64}, -1);
  expect_blocks_of(profile("hif4-2d/gcc"), {70, 65}, 0);
  expect_blocks_of(profile("nvfp4/tensor-scale"), {5, 32}, -1);
}

TEST(BlockOfValues, TooManyValuesSayHowMany) {
  const std::vector<std::uint32_t> words(33, 0x3F800000U);
  const auto question = block_of_values(profile("mxfp4/ocp"), words, {}, std::nullopt);
  ASSERT_FALSE(question.ok());
  EXPECT_EQ(question.error().message,
            "33 values are more than a block of mxfp4/ocp holds: 32; explain one block at a time");
}

// ---------------------------------------------------------------------------------------------------------------------
// Forms
// ---------------------------------------------------------------------------------------------------------------------

std::string golden(const std::string& name) {
  std::ifstream in(std::string(FP4PROOF_SOURCE_DIR) + "/tests/unit/explain/" + name);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(Text, ByteForByte) {
  EXPECT_EQ(explanation_text(explained("mxfp4/ocp", "0.5,6,0.25,-0.75,0.1,7,5.1,-0")), golden("mxfp4-ocp.txt"));
  EXPECT_EQ(explanation_text(explained("hif4/gcc", "10,-3,0.7,0.1,2,1,0.5,0.25,5")), golden("hif4-gcc.txt"));
  EXPECT_EQ(explanation_text(explained("mxfp4/microxcaling-python", "0x40ffffff,0.3,-0.125,0x3effffff")),
            golden("microxcaling-python.txt"));
  TextOptions one;
  one.element = 1;
  EXPECT_EQ(explanation_text(explained("nvfp4/direct", "10,-3"), one), golden("nvfp4-element.txt"));
}

TEST(Text, NoLineEndsInASpaceAndColourIsOptional) {
  for (const char* name : {"mxfp4/ocp", "hif4/pto-a6", "nvfp4/tensor-scale", "mxfp4-2d/ocp", "mxfp8-e5m2/ocp"}) {
    const Explanation e = explained(name, "1,2,-3.3,0.1");
    const std::string plain = explanation_text(e);
    EXPECT_EQ(plain.find(" \n"), std::string::npos) << name;
    EXPECT_EQ(plain.find('\033'), std::string::npos) << name;
    TextOptions options;
    options.colour = true;
    std::string coloured = explanation_text(e, options);
    for (std::size_t at = coloured.find('\033'); at != std::string::npos; at = coloured.find('\033')) {
      coloured.erase(at, coloured.find('m', at) + 1 - at);
    }
    EXPECT_EQ(coloured, plain) << name;
  }
}

TEST(Text, NarrowWindowsLoseColumnsNotDecisions) {
  const Explanation e = explained("mxfp4/ocp", "0.5,6,0.25");
  TextOptions narrow;
  narrow.width = 80;
  const std::string text = explanation_text(e, narrow);
  EXPECT_NE(text.find("left out to fit 80 columns: hex float, bits"), std::string::npos);
  EXPECT_NE(text.find("a tie, to even"), std::string::npos);
  std::istringstream lines(text.substr(text.find("ELEMENTS"), text.find("(left out") - text.find("ELEMENTS")));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

std::vector<std::string> keys_of(const nlohmann::json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

using Keys = std::vector<std::string>;

TEST(Json, EveryMemberIsAlwaysThere) {
  Randomness randomness;
  randomness.words = {7U, 0xF0000000U};
  for (const Explanation& e :
       {explained("mxfp4/ocp", "1,0.3"), explained("hif4/gcc", "1,nan"), explained("hif4/amct", "1,0.3"),
        explained("nvfp4/direct", "1,0.3"), explained(profile("mxfp4/ocp-sr"), "1,0.3", randomness),
        explained("mxfp4/ggml", "1,0.3"), explained("mxfp4/microxcaling-python", "1,0.3")}) {
    const nlohmann::json value = nlohmann::json::parse(explanation_json(e).dump());
    EXPECT_EQ(keys_of(value), (Keys{"elements", "format", "given", "level_bits", "outcome", "profile", "rows", "source",
                                    "steps", "tensor_scale"}));
    EXPECT_EQ(value["format"], "fp4proof-explain/1");
    ASSERT_EQ(value["elements"].size(), static_cast<std::size_t>(e.profile->block.size()));
    for (const nlohmann::json& element : value["elements"]) {
      ASSERT_EQ(keys_of(element),
                (Keys{"cause",       "code",     "column", "decision", "distances",      "draw",  "error",
                      "error_steps", "half_add", "index",  "input",    "level_sum",      "lower", "prepared",
                      "rounded",     "row",      "rule",   "scaled",   "unrounded_code", "upper", "value"}));
    }
    for (const nlohmann::json& step : value["steps"]) {
      EXPECT_EQ(keys_of(step), (Keys{"id", "label", "rule", "text", "value"}));
    }
    for (const nlohmann::json& row : value["rows"])
      EXPECT_EQ(keys_of(row), (Keys{"code_bytes", "scale", "scale_bytes"}));
  }
}

TEST(Json, Content) {
  const nlohmann::json value = explanation_json(explained("mxfp4/ocp", "0.5,6,-0.3"));
  EXPECT_EQ(value["given"], 3);
  EXPECT_EQ(value["outcome"], "quantized");
  EXPECT_EQ(value["profile"]["name"], "mxfp4/ocp");
  EXPECT_EQ(value["rows"][0]["scale_bytes"], "7f");
  EXPECT_EQ(value["rows"][0]["code_bytes"], "71090000000000000000000000000000");
  const nlohmann::json& third = value["elements"][2];
  EXPECT_EQ(third["input"]["bits"], "0xbe99999a");
  EXPECT_EQ(third["scaled"]["decimal"], "0.30000001192092895...");
  EXPECT_EQ(third["scaled"]["exact"], "0x1.333334p-2");
  EXPECT_EQ(third["lower"]["code"], 0);
  EXPECT_EQ(third["upper"]["value"]["decimal"], "0.5");
  EXPECT_EQ(third["cause"], "above-tie");
  EXPECT_EQ(third["rule"], "MX19");
  EXPECT_EQ(third["code"], 9);
  EXPECT_TRUE(third["draw"].is_null());
  const nlohmann::json levels = explanation_json(explained("hif4/gcc", "10"))["level_bits"];
  ASSERT_EQ(levels.size(), 24U);
  EXPECT_EQ(keys_of(levels[0]), (Keys{"bit", "cell", "compared", "extent", "largest", "largest_element", "level",
                                      "parent", "product", "threshold"}));
  EXPECT_EQ(levels[8]["parent"], 1);
}

// ---------------------------------------------------------------------------------------------------------------------
// Refusals
// ---------------------------------------------------------------------------------------------------------------------

TEST(ExplainBlock, QuestionsThatDoNotFit) {
  BlockQuestion short_block;
  short_block.words.resize(31);
  EXPECT_EQ(explain_block(profile("mxfp4/ocp"), short_block).error().kind, ErrorKind::usage);
  BlockQuestion no_random;
  no_random.words.resize(32);
  EXPECT_EQ(explain_block(profile("mxfp4/ocp-sr"), no_random).error().kind, ErrorKind::usage);
  BlockQuestion bad_scale;
  bad_scale.words.resize(16);
  bad_scale.tensor_scale = -1.0F;
  EXPECT_EQ(explain_block(profile("nvfp4/tensor-scale"), bad_scale).error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace fp4proof::explain
