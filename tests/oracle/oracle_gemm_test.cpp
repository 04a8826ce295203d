// The oracle's sums against the machine's own binary32 and binary64 arithmetic where that is exact, and against sums
// worked out by hand.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "formats/spec_profiles.h"
#include "reference/exact/extended.h"
#include "reference/exact/float_word.h"
#include "reference/exact/gemm.h"
#include "reference/exact/tensor_core.h"

namespace fp4proof::exact {
namespace {

using Words = std::vector<std::uint32_t>;
using Codes = std::vector<std::uint8_t>;

std::uint32_t word(float value) { return std::bit_cast<std::uint32_t>(value); }
float value(std::uint32_t w) { return std::bit_cast<float>(w); }
Profile named(const char* name) { return *find_profile(name); }

Words random_words(std::size_t count, unsigned seed, float sigma = 1.0F) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0F, sigma);
  Words words(count);
  for (std::uint32_t& w : words) w = word(normal(random));
  return words;
}

Operand operand_of(const char* name, std::size_t rows, std::size_t cols, unsigned seed) {
  return *quantize_operand(named(name), random_words(rows * cols, seed), rows, cols);
}

/// An operand of one row from blocks of (scale, codes at the front, zeros behind).
struct TypedBlock {
  std::uint8_t scale;
  Codes front;
};
Operand one_row(const char* name, const std::vector<TypedBlock>& blocks) {
  Operand operand{named(name), {{}}};
  for (const TypedBlock& typed : blocks) {
    EncodedBlock block;
    block.scale = typed.scale;
    block.codes = typed.front;
    block.codes.resize(operand.profile.block.cols, 0);
    operand.rows[0].push_back(std::move(block));
  }
  return operand;
}

std::uint32_t single(const Operand& a, const Operand& b, Accumulator accumulator) {
  return gemm(a, b, accumulator)->at(0);
}

// --- extended numbers and binary32 arithmetic ------------------------------------------------------------------------

TEST(FloatArithmetic, AddsAndMultipliesAsTheMachineDoes) {
  std::mt19937 random(1);
  const auto same = [](std::uint32_t ours, float machine) {
    return std::isnan(machine) ? ours == 0x7FC00000U : ours == word(machine);
  };
  for (int i = 0; i < 100000; ++i) {
    const auto a = static_cast<std::uint32_t>(random());
    const std::uint32_t b = i % 2 == 0 ? static_cast<std::uint32_t>(random())
                                       : (a ^ 0x80000000U) + static_cast<std::uint32_t>(random() % 3);
    ASSERT_TRUE(same(add_floats(a, b), value(a) + value(b))) << std::hex << a << " " << b;
    ASSERT_TRUE(same(multiply_floats(a, b), value(a) * value(b))) << std::hex << a << " " << b;
  }
  for (const std::uint32_t a : {0U, 0x80000000U, 0x7F800000U, 0xFF800000U, 0x7FC00000U, 1U, 0x3F800000U})
    for (const std::uint32_t b : {0U, 0x80000000U, 0x7F800000U, 0xFF800000U, 0x7FC00000U, 1U, 0xBF800000U}) {
      EXPECT_TRUE(same(add_floats(a, b), value(a) + value(b))) << std::hex << a << " " << b;
      EXPECT_TRUE(same(multiply_floats(a, b), value(a) * value(b))) << std::hex << a << " " << b;
    }
}

// --- bfloat16 operands -----------------------------------------------------------------------------------------------

TEST(Bf16Gemm, IsAChainOfFusedMultiplyAddsInChunks) {
  constexpr std::size_t k = 1100;
  std::vector<std::uint16_t> a;
  std::vector<std::uint16_t> b;
  for (const std::uint32_t w : random_words(2 * k, 2)) a.push_back(static_cast<std::uint16_t>(w >> 16));
  for (const std::uint32_t w : random_words(3 * k, 3)) b.push_back(static_cast<std::uint16_t>(w >> 16));
  const Words chunked = bf16_gemm(a, b, 2, 3, k);
  const Words whole = bf16_gemm(a, b, 2, 3, k, 0);
  const auto bf16 = [](std::uint16_t w) { return value(std::uint32_t{w} << 16); };
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      float one_chain = 0.0F;
      std::vector<float> chunks(3, 0.0F);
      for (std::size_t l = 0; l < k; ++l) {
        one_chain = std::fmaf(bf16(a[i * k + l]), bf16(b[j * k + l]), one_chain);
        chunks[l / 512] = std::fmaf(bf16(a[i * k + l]), bf16(b[j * k + l]), chunks[l / 512]);
      }
      EXPECT_EQ(whole[i * 3 + j], word(one_chain));
      EXPECT_EQ(chunked[i * 3 + j], word((chunks[0] + chunks[1]) + chunks[2]));
    }
  }
}

// --- block products and sequential sums ------------------------------------------------------------------------------

/// The dot of two decoded blocks in binary64, exact for the magnitudes of these tests.
double machine_dot(const Operand& a, const Operand& b, std::size_t row_a, std::size_t row_b, std::size_t block) {
  const Words x = decode_block(a.profile, a.rows[row_a][block]);
  const Words y = decode_block(b.profile, b.rows[row_b][block]);
  double sum = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += double{value(x[i])} * double{value(y[i])};
  return sum;
}

void expect_machine_sums(const Operand& a, const Operand& b, bool exact_in_float) {
  const std::size_t blocks = a.rows[0].size();
  const std::size_t per_chunk = 512 / a.profile.block.cols;
  const Words seq512 = *gemm(a, b, Accumulator::seq512);
  const Words seq = *gemm(a, b, Accumulator::seq);
  const Words exact = *gemm(a, b, Accumulator::exact);
  for (std::size_t i = 0; i < a.rows.size(); ++i) {
    for (std::size_t j = 0; j < b.rows.size(); ++j) {
      std::vector<float> chunks((blocks + per_chunk - 1) / per_chunk, 0.0F);
      float one_chain = 0.0F;
      double all = 0.0;
      for (std::size_t l = 0; l < blocks; ++l) {
        const double dot = machine_dot(a, b, i, j, l);
        const auto product = static_cast<float>(dot);
        if (exact_in_float) {
          EXPECT_EQ(double{product}, dot);
        }
        chunks[l / per_chunk] += product;
        one_chain += product;
        all += dot;
      }
      float total = chunks[0];
      for (std::size_t c = 1; c < chunks.size(); ++c) total += chunks[c];
      const std::size_t at = i * b.rows.size() + j;
      EXPECT_EQ(seq512[at], word(total));
      EXPECT_EQ(seq[at], word(one_chain));
      EXPECT_EQ(exact[at], word(static_cast<float>(all)));
    }
  }
}

TEST(Gemm, SequentialSumsOfEveryFamily) {
  expect_machine_sums(operand_of("mxfp4/ocp", 2, 1312, 4), operand_of("mxfp4/rceil", 3, 1312, 5), true);
  expect_machine_sums(operand_of("hif4/gcc", 2, 1344, 6), operand_of("hif4/amct", 2, 1344, 7), true);
  expect_machine_sums(operand_of("nvfp4/direct", 2, 1072, 8), operand_of("nvfp4/direct", 2, 1072, 9), true);
  expect_machine_sums(operand_of("mxfp8-e4m3/ocp", 2, 1088, 10), operand_of("mxfp6-e3m2/ocp", 2, 1088, 11), false);
}

TEST(Gemm, BlockProductByHand) {
  const Operand a = one_row("mxfp4/ocp", {{128, {0x7, 0xF, 0x1, 0x8}}});  // 2 * (6, -6, 0.5, -0)
  const Operand b = one_row("mxfp4/ocp", {{126, {0x7, 0x1, 0x9, 0x7}}});  // 1/2 * (6, 0.5, -0.5, 6)
  EXPECT_EQ(block_product(a.profile, a.rows[0][0], b.profile, b.rows[0][0]), word(36.0F - 3.0F - 0.25F));
}

TEST(Gemm, BlockProductsLeaveTheRangeOfBinary32ByOneRounding) {
  const Operand top = one_row("mxfp4/ocp", {{254, {0x7}}});
  EXPECT_EQ(single(top, top, Accumulator::seq512), 0x7F800000U);
  // Scales 2^-77 and 2^-73: the sum counts in halves of the smallest binary32.
  const auto tiny = [](std::uint8_t code_a, std::uint8_t code_b) {
    return single(one_row("mxfp4/ocp", {{50, {code_a}}}), one_row("mxfp4/ocp", {{54, {code_b}}}), Accumulator::seq512);
  };
  EXPECT_EQ(tiny(0x2, 0x2), 0U);  // 1/2: a tie to even
  EXPECT_EQ(tiny(0x3, 0x2), 1U);  // 3/4
  EXPECT_EQ(tiny(0x4, 0x3), 2U);  // 3/2: a tie to even
}

TEST(Gemm, NanScaleWinsOverZeros) {
  for (const Accumulator accumulator :
       {Accumulator::seq512, Accumulator::seq, Accumulator::exact, Accumulator::tc_hopper_fp16,
        Accumulator::tc_hopper_fp8, Accumulator::tc_blackwell_mxf8f6f4, Accumulator::tc_blackwell_mxf4}) {
    const Operand nan = one_row("mxfp4/ocp", {{127, {2}}, {255, {}}});
    const Operand zero = one_row("mxfp4/ocp", {{127, {2}}, {127, {}}});
    EXPECT_EQ(single(nan, zero, accumulator), 0x7FC00000U);
    EXPECT_EQ(single(zero, nan, accumulator), 0x7FC00000U);
    EXPECT_EQ(single(zero, zero, accumulator), word(1.0F));
  }
}

TEST(Gemm, ElementsThatAreInfinityOrNan) {
  const Operand infinite = one_row("mxfp8-e5m2/ocp", {{127, {0x7C, 0x3C}}});
  const Operand ones = one_row("mxfp8-e5m2/ocp", {{127, {0xBC, 0x3C}}});
  const Operand opposite = one_row("mxfp8-e5m2/ocp", {{127, {0xFC, 0x7C}}});
  const Operand zeros = one_row("mxfp8-e5m2/ocp", {{127, {}}});
  for (const Accumulator accumulator : {Accumulator::seq512, Accumulator::exact, Accumulator::tc_hopper_fp16,
                                        Accumulator::tc_hopper_fp8, Accumulator::tc_blackwell_mxf8f6f4}) {
    EXPECT_EQ(single(infinite, ones, accumulator), 0xFF800000U);
    EXPECT_EQ(single(opposite, ones, accumulator), 0x7F800000U);
    EXPECT_EQ(single(infinite, zeros, accumulator), 0x7FC00000U);
  }
}

TEST(Gemm, ExactSumKeepsWhatSequentialSumsLose) {
  const Operand a = one_row("mxfp4/ocp", {{167, {2}}, {127, {2}}, {167, {2}}});
  const Operand b = one_row("mxfp4/ocp", {{127, {2}}, {127, {2}}, {127, {0xA}}});
  EXPECT_EQ(single(a, b, Accumulator::seq), 0U);
  EXPECT_EQ(single(a, b, Accumulator::exact), word(1.0F));
  const Operand negative_zero = one_row("mxfp4/ocp", {{127, {0x8}}});
  for (const Accumulator accumulator : {Accumulator::seq512, Accumulator::exact, Accumulator::tc_blackwell_mxf4})
    EXPECT_EQ(single(negative_zero, one_row("mxfp4/ocp", {{127, {2}}}), accumulator), 0U);
}

TEST(Gemm, TensorScalesMultiplyTheFinishedSum) {
  Operand a = one_row("nvfp4/tensor-scale", {{0x38, {0x7}}, {0x39, {0x3}}});
  Operand b = one_row("nvfp4/tensor-scale", {{0x38, {0x7}}, {0x38, {0x2}}});
  a.tensor_scale = word(1.0F / 3.0F);
  b.tensor_scale = word(0.1F);
  const float sum = 36.0F + 1.125F * 1.5F;
  EXPECT_EQ(single(a, b, Accumulator::seq512), word((sum * (1.0F / 3.0F)) * 0.1F));
  EXPECT_EQ(single(a, b, Accumulator::exact), word((sum * (1.0F / 3.0F)) * 0.1F));
}

TEST(Gemm, TilesGiveTheirRows) {
  const Operand tiles = operand_of("hif4-2d/gcc", 64, 128, 12);
  ASSERT_EQ(tiles.rows.size(), 64U);
  ASSERT_EQ(tiles.rows[0].size(), 2U);
  EXPECT_EQ(tiles.rows[0][0].scale, tiles.rows[63][0].scale);
  EXPECT_EQ(tiles.rows[0][0].level2.size(), 8U);
  const Words c = *gemm(tiles, operand_of("hif4/gcc", 1, 128, 13), Accumulator::seq512);
  EXPECT_EQ(c.size(), 64U);
}

TEST(Gemm, Refusals) {
  const Operand mx = one_row("mxfp4/ocp", {{127, {}}});
  const Operand longer = one_row("mxfp4/ocp", {{127, {}}, {127, {}}});
  const Operand nv = one_row("nvfp4/direct", {{0x38, {}}, {0x38, {}}});
  const Operand fp8 = one_row("mxfp8-e4m3/ocp", {{127, {}}});
  EXPECT_FALSE(gemm(mx, nv, Accumulator::seq512).ok());
  EXPECT_FALSE(gemm(mx, longer, Accumulator::seq512).ok());
  EXPECT_FALSE(gemm(nv, nv, Accumulator::tc_blackwell_mxf8f6f4).ok());
  EXPECT_FALSE(gemm(fp8, mx, Accumulator::tc_blackwell_mxf4).ok());
  EXPECT_TRUE(gemm(fp8, mx, Accumulator::tc_blackwell_mxf8f6f4).ok());
  EXPECT_FALSE(quantize_operand(named("mxfp4/ocp"), Words(33, 0), 1, 33).ok());
  EXPECT_FALSE(gemm(Operand{named("mxfp4/ocp"), {}}, mx, Accumulator::seq).ok());
}

// --- tensor-core models ----------------------------------------------------------------------------------------------

TEST(TensorCore, HopperFp16IsExactOnBlocks) {
  const Operand mx_a = operand_of("mxfp4/ocp", 8, 512, 14);
  const Operand mx_b = operand_of("mxfp4/rceil", 8, 512, 15);
  EXPECT_EQ(*gemm(mx_a, mx_b, Accumulator::tc_hopper_fp16), *gemm(mx_a, mx_b, Accumulator::seq512));
  const Operand hif4_a = operand_of("hif4/gcc", 8, 512, 16);
  const Operand hif4_b = operand_of("hif4/gcc", 8, 512, 17);
  EXPECT_EQ(*gemm(hif4_a, hif4_b, Accumulator::tc_hopper_fp16), *gemm(hif4_a, hif4_b, Accumulator::seq512));
}

/// 448 * 448 = 3.0625 * 2^16, so 13 fraction bits end at 8.
TEST(TensorCore, HopperFp8TruncatesTowardZero) {
  const auto sum = [](Codes a, Codes b) {
    return single(one_row("mxfp8-e4m3/ocp", {{127, std::move(a)}}), one_row("mxfp8-e4m3/ocp", {{127, std::move(b)}}),
                  Accumulator::tc_hopper_fp8);
  };
  EXPECT_EQ(sum({0x7E, 0x4E}, {0x7E, 0x38}), word(200704.0F));  // + 7: gone
  EXPECT_EQ(sum({0x7E, 0xCE}, {0x7E, 0x38}), word(200704.0F));  // - 7: gone
  EXPECT_EQ(sum({0x7E, 0x51}, {0x7E, 0x38}), word(200704.0F));  // + 9: 8 added, then the output drops it (step 16)
  EXPECT_EQ(sum({0x7E, 0xD1}, {0x7E, 0x38}), word(200688.0F));  // - 9: 200696, truncated to a multiple of 16
  EXPECT_EQ(sum({0x7E, 0xFE, 0x51}, {0x7E, 0x7E, 0x38}), word(8.0F));
}

TEST(TensorCore, ZerosDoNotRaiseTheLargestExponent) {
  const Operand a = one_row("mxfp8-e4m3/ocp", {{127, {0x00, 0x01}}});  // 0, 2^-9
  const Operand b = one_row("mxfp8-e4m3/ocp", {{127, {0x7E, 0x01}}});  // 448, 2^-9
  EXPECT_EQ(single(a, b, Accumulator::tc_hopper_fp8), word(0x1p-18F));
}

TEST(TensorCore, BlackwellMxf8f6f4KeepsTwentyFiveBits) {
  const auto sum = [](std::uint8_t tiny) {
    return single(one_row("mxfp8-e4m3/ocp", {{127, {0x7E, 0xFE, tiny}}}),
                  one_row("mxfp8-e4m3/ocp", {{127, {0x7E, 0x7E, 0x30}}}), Accumulator::tc_blackwell_mxf8f6f4);
  };
  EXPECT_EQ(sum(0x02), word(0x1p-9F));  // 2^-8 * 1/2 is the last bit kept below 2^16
  EXPECT_EQ(sum(0x01), 0U);             // 2^-9 * 1/2 is one below
  EXPECT_EQ(sum(0x83), word(-0x1p-9F));
}

/// The accumulator of one instruction enters the next one's alignment.
TEST(TensorCore, BlackwellChainsTheAccumulator) {
  const Operand a = one_row("mxfp8-e4m3/ocp", {{127, {0x7E}}, {127, {0x01}}, {127, {0xFE}}});
  const Operand b = one_row("mxfp8-e4m3/ocp", {{127, {0x7E}}, {127, {0x01}}, {127, {0x7E}}});
  EXPECT_EQ(single(a, b, Accumulator::tc_blackwell_mxf8f6f4), 0U);
  EXPECT_EQ(single(a, b, Accumulator::exact), word(0x1p-18F));
}

TEST(TensorCore, BlackwellMxf4SumsSixteenExactlyWithThirtyFiveBits) {
  Codes cancelling(32, 0);
  cancelling[0] = 0x7;
  cancelling[16] = 0xF;
  const auto sum = [&](std::uint8_t scale, Codes tail) {
    const Operand a = one_row("mxfp4/ocp", {{127, cancelling}, {scale, std::move(tail)}});
    const Operand b =
        one_row("mxfp4/ocp", {{127, {0x7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x7}}, {127, {0x7, 0x7, 0x7}}});
    return single(a, b, Accumulator::tc_blackwell_mxf4);
  };
  EXPECT_EQ(sum(87, {0x7}), word(0x1p-35F));            // 36 * 2^-40 is cut to 32 * 2^-40
  EXPECT_EQ(sum(87, {0x1}), 0U);                        // 3 * 2^-40
  EXPECT_EQ(sum(87, {0x6, 0xE, 0x7}), word(0x1p-35F));  // added exactly before the cut
  EXPECT_EQ(sum(87, {0xF}), word(-0x1p-35F));           // toward zero
  EXPECT_EQ(sum(92, {0x2}), word(0x1.8p-33F));          // 6 * 2^-35 is kept
}

TEST(TensorCore, Nvfp4ScalesMultiplyTheGroupSums) {
  const Operand a = one_row("nvfp4/direct", {{0x39, {0x7, 0x1}}, {0x3C, {0x2}}});
  const Operand b = one_row("nvfp4/direct", {{0x3A, {0x7, 0x9}}, {0x38, {0x3}}});
  const float expected = 1.125F * 1.25F * (36.0F - 0.25F) + 1.5F * 1.5F;
  EXPECT_EQ(single(a, b, Accumulator::tc_blackwell_mxf4), word(expected));
}

TEST(TensorCore, OutputTruncationAndOverflow) {
  EXPECT_EQ(truncate_to_float(Rational(1) / Rational(3), 23), 0x3EAAAAAAU);
  EXPECT_EQ(truncate_to_float(-(Rational(1) / Rational(3)), 23), 0xBEAAAAAAU);
  EXPECT_EQ(truncate_to_float(-Rational::power_of_two(-200), 23), 0U);
  EXPECT_EQ(truncate_to_float(Rational::power_of_two(128) - Rational(1), 23), 0x7F7FFFFFU);
  EXPECT_EQ(truncate_to_float(-Rational::power_of_two(128), 23), 0xFF800000U);
  EXPECT_EQ(truncate_to_float(Rational(0x3FFF), 13), word(0x3FFF));
  EXPECT_EQ(truncate_to_float(Rational(0x7FFF), 13), word(0x7FFE));
}

}  // namespace
}  // namespace fp4proof::exact
