// Tensor-core models against alignments, truncations and sums worked out by hand.

#include "reference/portable/tensor_core_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reference/portable/gemm_wide_sum.h"
#include "tests/unit/hand_operand.h"

namespace fp4proof::portable {
namespace {

using namespace hand;
using Accumulator::seq512;
using Accumulator::tc_blackwell_mxf4;
using Accumulator::tc_blackwell_mxf8f6f4;
using Accumulator::tc_hopper_fp16;
using Accumulator::tc_hopper_fp8;

void expect_number(const ModelNumber& number, int eighths, int exponent) {
  EXPECT_EQ(number.significand, eighths);
  EXPECT_EQ(number.exponent, exponent);
}

TEST(TensorCoreModel, Numbers) {
  expect_number(model_number(1.0, -6), 8, 0);
  expect_number(model_number(-1.75, -6), -14, 0);
  expect_number(model_number(448.0, -6), 14, 8);
  expect_number(model_number(0.0, -6), 0, -126);
  expect_number(model_number(-0.0, -6), 0, -126);
  expect_number(model_number(0x1p-9, -6), 1, -6);    // the smallest E4M3
  expect_number(model_number(0x1.8p-8, -6), 3, -6);  // 3 * 2^-9
  expect_number(model_number(0.5, 0), 4, 0);         // E2M1 in its own type
  expect_number(model_number(0.5, -14), 8, -1);      // and as binary16
  expect_number(model_number(0x1.8p-16, -14), 3, -14);
  expect_number(model_number(0x1p-127, -127), 8, -127);
  EXPECT_EQ(own_min_exponent(Element::e2m1), 0);
  EXPECT_EQ(own_min_exponent(Element::e2m3), 0);
  EXPECT_EQ(own_min_exponent(Element::e3m2), -2);
  EXPECT_EQ(own_min_exponent(Element::e4m3), -6);
  EXPECT_EQ(own_min_exponent(Element::e5m2), -14);
  EXPECT_EQ(hopper_fp16_min_exponent(Element::e4m3), -14);
  EXPECT_EQ(hopper_fp8_min_exponent(Element::e2m1), -6);
  EXPECT_EQ(hopper_fp8_min_exponent(Element::e5m2), -14);
  EXPECT_EQ(scale_min_exponent(Family::mx), -127);
  EXPECT_EQ(scale_min_exponent(Family::nvfp4), -6);
}

std::uint32_t sum(const TensorCore& core, float accumulator, const std::vector<ModelTerm>& terms) {
  return float_bits(fused_sum(core, accumulator, terms, 0));
}

TEST(TensorCoreModel, AlignsToTheLargestExponentAndTruncates) {
  // F = 25 under the exponent 0: units of 2^-25.
  EXPECT_EQ(sum(hopper_fp16, 0.0F, {{1, 0}, {1, -23}}), word(1.0F + 0x1p-23F));
  EXPECT_EQ(sum(hopper_fp16, 0.0F, {{1, 0}, {1, -24}}), word(1.0F));
  EXPECT_EQ(sum(hopper_fp16, 0.0F, {{1, 0}, {1, -24}, {1, -25}, {1, -25}}), word(1.0F + 0x1p-23F));
  EXPECT_EQ(sum(hopper_fp16, 0.0F, {{1, 0}, {1, -24}, {1, -26}, {1, -26}, {1, -26}, {1, -26}}), word(1.0F));
  // Toward zero on both sides: 2^-26 vanishes whatever its sign, 1.5 * 2^-25 becomes 2^-25.
  EXPECT_EQ(sum(hopper_fp16, -1.0F, {{1, 0}, {-1, -26}}), 0U);
  EXPECT_EQ(sum(hopper_fp16, -1.0F, {{1, 0}, {-3, -26}}), word(-0x1p-25F));
  // The sum is truncated toward zero: 2^24 + 3 has 25 bits.
  EXPECT_EQ(sum(hopper_fp16, 0x1p24F, {{3, 0}}), word(0x1p24F + 2));
  EXPECT_EQ(sum(hopper_fp16, -0x1p24F, {{-3, 0}}), word(-0x1p24F - 2));
}

TEST(TensorCoreModel, EveryArchitectureKeepsItsOwnBits) {
  EXPECT_EQ(sum(hopper_fp8, 0.0F, {{1, 0}, {1, -13}}), word(1.0F + 0x1p-13F));
  EXPECT_EQ(sum(hopper_fp8, 0.0F, {{1, 0}, {1, -14}, {1, -14}}), word(1.0F));
  EXPECT_EQ(sum(hopper_fp8, 0.0F, {{3, 0}, {1, -13}}), word(3.0F));  // 14 bits kept under 2, 13 of them below it
  EXPECT_EQ(sum(blackwell_mxf8f6f4, 0.0F, {{1, 0}, {-1, 0}, {1, -25}}), word(0x1p-25F));
  EXPECT_EQ(sum(blackwell_mxf8f6f4, 0.0F, {{1, 0}, {-1, 0}, {1, -26}}), 0U);
  EXPECT_EQ(sum(blackwell_mxf4, 0.0F, {{1, 0}, {-1, 0}, {1, -35}}), word(0x1p-35F));
  EXPECT_EQ(sum(blackwell_mxf4, 0.0F, {{1, 0}, {-1, 0}, {1, -36}}), 0U);
}

TEST(TensorCoreModel, EndsOfTheOutput) {
  EXPECT_EQ(sum(blackwell_mxf8f6f4, 0.0F, {{3, 127}}), plus_inf);
  EXPECT_EQ(sum(blackwell_mxf8f6f4, 0.0F, {{-1, 128}}), minus_inf);
  EXPECT_EQ(sum(blackwell_mxf8f6f4, 0.0F, {{1, 127}, {1, 102}}), 0x7F000000U);
  EXPECT_EQ(sum(blackwell_mxf8f6f4, 0.0F, {{3, -149}}), 3U);
  EXPECT_EQ(sum(blackwell_mxf8f6f4, 0.0F, {{-7, -151}}), 0x80000001U);
  EXPECT_EQ(sum(blackwell_mxf8f6f4, float_from_bits(5), {{1, -149}}), 6U);
  EXPECT_EQ(sum(blackwell_mxf8f6f4, 0.0F, {{-1, -150}}), 0U);
  EXPECT_EQ(sum(hopper_fp8, 0.0F, {{1, -139}}), word(0x1p-139F));
  EXPECT_EQ(sum(hopper_fp8, 0.0F, {{1, -140}}), 0U);
}

// --- On operands -----------------------------------------------------------------------------------------------------

TEST(TensorCoreModel, HopperFp8DropsWhatFp16Keeps) {
  // E4M3: 0x38 is 1, 0x08 is 2^-6, 0x04 is 2^-7. 1 + 2^-14 + 2^-14.
  const Row a = {{one, {0x38, 0x04, 0x04}}};
  EXPECT_EQ(single("mxfp8-e4m3/ocp", a, a, tc_hopper_fp8), word(1.0F));
  EXPECT_EQ(single("mxfp8-e4m3/ocp", a, a, tc_hopper_fp16), word(1.0F + 0x1p-13F));
  EXPECT_EQ(single("mxfp8-e4m3/ocp", a, a, tc_blackwell_mxf8f6f4), word(1.0F + 0x1p-13F));
  const Row b = {{one, {0x38, 0x08, 0x08}}};
  EXPECT_EQ(single("mxfp8-e4m3/ocp", a, b, tc_hopper_fp8), word(1.0F + 0x1p-12F));
}

TEST(TensorCoreModel, HopperFp16TakesSixteenElementsAtOnce) {
  // E5M2: 0x78 is 2^15, 0x44 is 4, 0x34 is 0.25. 2^30 - 2^30 together with 2^-4 * 16: aligned to 2^30, units of 2^5.
  Codes a(32, 0);
  Codes b(32, 0);
  a[0] = b[0] = a[1] = 0x78;
  b[1] = 0xF8;
  a[2] = b[2] = 0x44;
  EXPECT_EQ(single("mxfp8-e5m2/ocp", {{one, a}}, {{one, b}}, tc_hopper_fp16), 0U);
  EXPECT_EQ(single("mxfp8-e5m2/ocp", {{one, a}}, {{one, b}}, seq512), word(16.0F));
  // In the second instruction of the block the 16 meets an accumulator of zero.
  std::swap(a[2], a[16]);
  std::swap(b[2], b[16]);
  EXPECT_EQ(single("mxfp8-e5m2/ocp", {{one, a}}, {{one, b}}, tc_hopper_fp16), word(16.0F));
  EXPECT_EQ(single("mxfp8-e5m2/ocp", {{one, a}}, {{one, b}}, tc_hopper_fp8), 0U);
}

TEST(TensorCoreModel, HopperAddsScaledDotsAsSeq512) {
  // 2^24 then 3: rounded to nearest even, not truncated.
  const Row a = {mxfp4(one + 24, 2), mxfp4(one, 5)};
  const Row b = {mxfp4(one, 2), mxfp4(one, 2)};
  EXPECT_EQ(single("mxfp4/ocp", a, b, tc_hopper_fp16), word(0x1p24F + 4));
}

TEST(TensorCoreModel, BlackwellChainsAndTruncates) {
  // One block a mxf8f6f4 instruction; two blocks a mxf4 instruction.
  const Row a = {mxfp4(one + 24, 2), mxfp4_zero, mxfp4(one, 5), mxfp4_zero};
  const Row b(4, mxfp4(one, 2));
  EXPECT_EQ(single("mxfp4/ocp", a, b, tc_blackwell_mxf8f6f4), word(0x1p24F + 2));
  EXPECT_EQ(single("mxfp4/ocp", a, b, tc_blackwell_mxf4), word(0x1p24F + 2));
  // 2^24 + 1 + 1 in one instruction is exact; one after the other both are lost.
  const Row together = {mxfp4(one + 24, 2), mxfp4_zero, mxfp4(one, 2), mxfp4(one, 2)};
  EXPECT_EQ(single("mxfp4/ocp", together, b, tc_blackwell_mxf4), word(0x1p24F + 2));
  EXPECT_EQ(single("mxfp4/ocp", together, b, tc_blackwell_mxf8f6f4), word(0x1p24F));
}

TEST(TensorCoreModel, BlackwellGroupsOfSixteenAreExact) {
  // Elements 0 and 16 stand in two groups: 2^40 - 2^40, aligned in units of 2^5 together with block 1.
  const auto aligned = [](int exponent) {
    Codes minus(32, 0);
    minus[0] = 2;
    minus[16] = 10;
    return single("mxfp4/ocp", {{one + 20, minus}, mxfp4(static_cast<std::uint32_t>(127 + exponent), 2)},
                  {{one + 20, Codes(32, 2)}, mxfp4(one, 2)}, tc_blackwell_mxf4);
  };
  EXPECT_EQ(aligned(5), word(0x1p5F));
  EXPECT_EQ(aligned(4), 0U);
  // Against 2^37, in units of 2^2, the two 2 of one group are an exact 4.
  Codes twos(32, 0);
  twos[0] = twos[15] = 4;
  EXPECT_EQ(single("mxfp4/ocp", {mxfp4(one + 37, 2), mxfp4_zero, mxfp4(one + 37, 10), {one, twos}},
                   {mxfp4(one, 2), mxfp4_zero, mxfp4(one, 2), {one, Codes(32, 2)}}, tc_blackwell_mxf4),
            word(4.0F));
  std::swap(twos[15], twos[16]);
  EXPECT_EQ(single("mxfp4/ocp", {mxfp4(one + 37, 2), mxfp4_zero, mxfp4(one + 37, 10), {one, twos}},
                   {mxfp4(one, 2), mxfp4_zero, mxfp4(one, 2), {one, Codes(32, 2)}}, tc_blackwell_mxf4),
            0U);
  // Inside one group nothing is truncated: 36 - 36 + 0.25 against 2^33.
  const Row a = {mxfp4(one + 33, 2), {one, {7, 7, 1}}, mxfp4(one + 33, 10), mxfp4_zero};
  const Row b = {mxfp4(one, 2), {one, {7, 15, 1}}, mxfp4(one, 2), mxfp4_zero};
  EXPECT_EQ(single("mxfp4/ocp", a, b, tc_blackwell_mxf4), 0U);  // lost in the output's 24 bits
  EXPECT_EQ(single("mxfp4/ocp", {a[1]}, {b[1]}, tc_blackwell_mxf4), word(0.25F));
  // 2^40 + 2^exponent leave the instruction truncated to 24 bits, units of 2^17; the next one takes 2^40 off.
  const auto output = [](int exponent) {
    return single("mxfp4/ocp",
                  {mxfp4(one + 20, 2), mxfp4(static_cast<std::uint32_t>(127 + exponent), 2), mxfp4(one + 20, 10)},
                  {mxfp4(one + 20, 2), mxfp4(one, 2), mxfp4(one + 20, 2)}, tc_blackwell_mxf4);
  };
  EXPECT_EQ(output(17), word(0x1p17F));
  EXPECT_EQ(output(16), 0U);
}

TEST(TensorCoreModel, Nvfp4ScalesMultiplyGroupDots) {
  // E4M3 0x3F is 1.875, 0x01 is 2^-9 (an eighth under the exponent -6).
  EXPECT_EQ(single("nvfp4/direct", {{0x3F, {7, 7}}}, {{0x3F, {7, 1}}}, tc_blackwell_mxf4), word(39.0F * 3.515625F));
  EXPECT_EQ(single("nvfp4/direct", {{0x01, {1}}}, {{0x01, {1}}}, tc_blackwell_mxf4), word(0x1p-20F));
  EXPECT_EQ(single("nvfp4/direct", {{0x00, {7}}, {0x38, {1}}}, {{0x7E, {7}}, {0x38, {2}}}, tc_blackwell_mxf4),
            word(0.5F));
}

TEST(TensorCoreModel, ZeroTermsUnderHugeScalesPushTheAccumulatorOut) {
  // A zero counts as 0 * 2^-126: with scales of 2^127 and an element 6 on the other side its exponent is
  // -126 + 2 + 254 = 130, and the 1 of the first block falls below 2^(130 - 25).
  const Row a = {mxfp4(one, 2), mxfp4_zero, mxfp4(254, 0), mxfp4_zero};
  const Row b = {mxfp4(one, 2), mxfp4_zero, mxfp4(254, 7), mxfp4_zero};
  EXPECT_EQ(single("mxfp4/ocp", a, b, tc_blackwell_mxf8f6f4), 0U);
  // An empty dot counts with the exponents of its scales.
  EXPECT_EQ(single("mxfp4/ocp", a, b, tc_blackwell_mxf4), 0U);
  EXPECT_EQ(single("mxfp4/ocp", a, b, seq512), word(1.0F));
}

TEST(TensorCoreModel, InfiniteAccumulatorStays) {
  const Row a = {mxfp4(254, 7), mxfp4_zero, mxfp4(254, 15), mxfp4_zero};
  const Row b = {mxfp4(254, 7), mxfp4_zero, mxfp4(254, 7), mxfp4_zero};
  EXPECT_EQ(single("mxfp4/ocp", a, b, tc_blackwell_mxf8f6f4), plus_inf);
  EXPECT_EQ(single("mxfp4/ocp", a, b, tc_blackwell_mxf4), plus_inf);
}

// --- The wide sum of `exact` -----------------------------------------------------------------------------------------

std::uint32_t wide(const std::vector<double>& terms) {
  WideSum result;
  for (const double term : terms) result.add(term);
  return float_bits(result.rounded());
}

TEST(WideSum, KeepsEveryBit) {
  EXPECT_EQ(wide({}), 0U);
  EXPECT_EQ(wide({0x1p290, 0x1p-286, -0x1p290}), 0U);  // 2^-286 rounds to zero
  EXPECT_EQ(wide({0x1p290, 3.0, -0x1p290}), word(3.0F));
  EXPECT_EQ(wide({-0x1p290, 3.0, 0x1p290}), word(3.0F));
  EXPECT_EQ(wide({1.0, -1.0}), 0U);
  EXPECT_EQ(wide({-5.0, 2.0}), word(-3.0F));
  EXPECT_EQ(wide({0x1p200}), plus_inf);
  EXPECT_EQ(wide({-0x1p200}), minus_inf);
}

TEST(WideSum, RoundsOnceTiesToEven) {
  EXPECT_EQ(wide({0x1p24, 1.0}), 0x4B800000U);
  EXPECT_EQ(wide({0x1p24, 1.0, 0x1p-286}), 0x4B800001U);
  EXPECT_EQ(wide({0x1p24, 1.0, -0x1p-286}), 0x4B800000U);
  EXPECT_EQ(wide({0x1p24, 3.0}), 0x4B800002U);
  EXPECT_EQ(wide({-0x1p24, -1.0, -0x1p-286}), 0xCB800001U);
  EXPECT_EQ(wide({0x1p-150}), 0U);
  EXPECT_EQ(wide({0x1p-150, 0x1p-286}), 1U);
  EXPECT_EQ(wide({0x1p-150, -0x1p-286}), 0U);
  EXPECT_EQ(wide({0x1p-150, 0x1p-330}), 1U);
  EXPECT_EQ(wide({0x1p-150, 0x1p-267, -0x1p-330}), 1U);
  EXPECT_EQ(wide({0x1p-150, 0x1p-330, -0x1p-330}), 0U);
  EXPECT_EQ(wide({0x1p-150, 0x1p-330, -0x1.8p-330, 0x1p-330}), 1U);
  EXPECT_EQ(wide({0x1.8p-149}), 2U);
  EXPECT_EQ(wide({0x1p128 - 0x1p103}), plus_inf);
  EXPECT_EQ(wide({0x1p128 - 0x1p103, -0x1p-286}), 0x7F7FFFFFU);
}

TEST(WideSum, SpecialTermsDecide) {
  const double infinity = HUGE_VAL;
  EXPECT_EQ(wide({infinity, 1.0}), plus_inf);
  EXPECT_EQ(wide({-0x1p290, -infinity}), minus_inf);
  EXPECT_TRUE(is_nan_bits(wide({infinity, -infinity})));
  EXPECT_TRUE(is_nan_bits(wide({1.0, infinity - infinity})));
}

}  // namespace
}  // namespace fp4proof::portable
