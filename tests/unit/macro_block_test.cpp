// Macro-block scaling: factor bytes worked by hand from rules C14 to C19.

#include <gtest/gtest.h>

#include "formats/spec_profiles.h"
#include "reference/portable/correct.h"
#include "reference/portable/macro_block.h"
#include "tests/unit/correction_inputs.h"

namespace fp4proof::portable {
namespace {

const Profile& rceil = *find_profile("mxfp4/rceil");

int multiply_byte(std::uint32_t largest) { return macro_byte(MacroForm::multiply, Element::e2m1, largest); }
int divide_byte(std::uint32_t largest) { return macro_byte(MacroForm::divide, Element::e2m1, largest); }

CorrectionStack stack(const char* name) { return *find_correction_stack(name); }

TEST(MacroBlock, MultiplyingFactors) {
  EXPECT_EQ(multiply_byte(float_bits(6.0F)), 0);      // 6/6 = 1
  EXPECT_EQ(multiply_byte(float_bits(3.0F)), 0);      // 2
  EXPECT_EQ(multiply_byte(float_bits(1.0F)), 128);    // 6 = 1.5 * 4
  EXPECT_EQ(multiply_byte(float_bits(5.0F)), 51);     // 1.2: 0.2 * 256 = 51.2
  EXPECT_EQ(multiply_byte(float_bits(7.0F)), 182);    // 6/7 = 1.714285.. / 2: 182.86
  EXPECT_EQ(multiply_byte(float_bits(100.0F)), 235);  // 0.06 = 1.92 / 32: 235.52
  EXPECT_EQ(multiply_byte(0x40C00001U), 255);         // just above 6: the quotient lies just below 1
}

TEST(MacroBlock, FactorIsLoweredWhereTheQuotientRoundsUpOverABoundary) {
  // 6 / 3.2000000477 = 1.87499997 rounds to 1.875 = 1 + 224/256, and 1.875 * 3.2000000477 exceeds 6.
  EXPECT_EQ(multiply_byte(0x404CCCCDU), 223);
  EXPECT_EQ(multiply_byte(0x404CCCCCU), 224);  // one step below: 1.875 * 3.19999981 does not
  EXPECT_EQ(multiply_byte(0x405B6DB7U), 191);  // 24/7 rounded up, boundary 1.75
  EXPECT_EQ(multiply_byte(0x4040C0C1U), 253);
  EXPECT_EQ(multiply_byte(0x004CCCCDU | 0x20000000U), 223);  // the same significand at 2^-63
}

TEST(MacroBlock, EmptyAndTinyBlocks) {
  EXPECT_EQ(multiply_byte(0), 0);
  EXPECT_EQ(multiply_byte(0x00000001U), 0);    // 6 * 2^149 overflows
  EXPECT_EQ(multiply_byte(0x00800000U), 0);    // 6 * 2^126 = 1.5 * 2^128 overflows
  EXPECT_EQ(multiply_byte(0x01000000U), 128);  // 6 * 2^125 does not
  EXPECT_EQ(divide_byte(0), 0);
  EXPECT_EQ(divide_byte(0x00800000U), 0);  // 2^-126 / 6 is subnormal
}

TEST(MacroBlock, DividingFactors) {
  EXPECT_EQ(divide_byte(float_bits(6.0F)), 0);
  EXPECT_EQ(divide_byte(float_bits(7.0F)), 42);   // 7/6: 42.67
  EXPECT_EQ(divide_byte(float_bits(5.0F)), 170);  // 5/6 = 1.6667 / 2: 170.67
  EXPECT_EQ(divide_byte(float_bits(1.0F)), 85);   // 1/6 = 1.3333 / 8: 85.33
}

TEST(MacroBlock, NoBfloat16NeedsLowering) {
  for (std::uint32_t word = 0; word < 0x7F80U; ++word) {
    const std::uint32_t largest = word << 16;
    const float quotient = 6.0F / float_from_bits(largest);
    if (is_inf_bits(float_bits(quotient)) || largest == 0) continue;
    ASSERT_EQ(multiply_byte(largest), static_cast<int>((float_bits(quotient) >> 15) & 0xFFU)) << std::hex << largest;
  }
}

TEST(MacroBlock, FactorNeverTakesABlockBeyondTheLargestElement) {
  for (std::uint32_t i = 0; i < 400000; ++i) {
    const std::uint32_t largest = 0x3F800000U + 1049U * i;  // some fifty binades
    const double quotient = 6.0 / double{float_from_bits(largest)};
    const int k = -static_cast<int>(floor_log2_bits(float_bits(static_cast<float>(quotient))));
    const double scaled =
        double{macro_factor(static_cast<std::uint8_t>(multiply_byte(largest)))} * double{float_from_bits(largest)};
    ASSERT_LE(scaled, 6.0 * pow2d(k)) << std::hex << largest;
    ASSERT_GT(scaled, 6.0 * pow2d(k) * (1.0 - 1.0 / 128)) << std::hex << largest;
  }
}

TEST(MacroBlock, OnesAreExact) {
  // M = 1, f = 1.5, x' = 1.5 = 6 * 2^-2: scale 125, code 7, and 1.5 / 1.5 = 1.
  const std::vector<float> ones = filled(128, 1.0F);
  const std::int64_t shape[] = {1, 128};
  const auto c = correct(rceil, stack("mbs"), view_of(ones, shape));
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(c->first.macro, std::vector<std::uint8_t>{128});
  EXPECT_EQ(scale_of(c->first, 0, 3), 125);
  EXPECT_EQ(nibble_of(c->first, 0, 127), 7);
  EXPECT_EQ(words_of(dequantize(*c)), words_of(ones));
  EXPECT_EQ(words_of(macro_weights(*c, c->first)), std::vector<std::uint32_t>{0x3F2AAAABU});  // RN(2/3)
}

TEST(MacroBlock, DividingForm) {
  // M = 7, q = 7/6, f = 1 + 42/256 = 1.1640625. 7 / f = 6.0134.. under `even`: scale 127, code 7; 6 f = 6.984375.
  std::vector<float> values = filled(128, 0.0F);
  values[100] = 7.0F;
  const std::int64_t shape[] = {1, 128};
  const auto c = correct(*find_profile("mxfp4/even"), stack("mbs-divide"), view_of(values, shape));
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(c->first.macro, std::vector<std::uint8_t>{42});
  EXPECT_EQ(scale_of(c->first, 0, 3), 127);
  EXPECT_EQ(nibble_of(c->first, 0, 100), 7);
  EXPECT_EQ(dequantize(*c)[100], 6.984375F);
  EXPECT_EQ(macro_weights(*c, c->first), std::vector<float>{1.1640625F});
}

TEST(MacroBlock, NanInOneOfFourBlocks) {
  std::vector<float> values = filled(128, 1.0F);
  values[40] = float_from_bits(0xFFC12345U);
  const std::int64_t shape[] = {1, 128};
  const auto c = correct(rceil, stack("mbs"), view_of(values, shape));
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(c->first.macro, std::vector<std::uint8_t>{128});  // NaN takes no part in M
  EXPECT_EQ(scale_of(c->first, 0, 0), 125);
  EXPECT_EQ(scale_of(c->first, 0, 1), 255);
  EXPECT_EQ(scale_of(c->first, 0, 2), 125);
  const auto words = words_of(dequantize(*c));
  for (std::size_t i = 0; i < words.size(); ++i) EXPECT_EQ(words[i], i / 32 == 1 ? 0x7FC00000U : 0x3F800000U) << i;
}

TEST(MacroBlock, AProductThatOverflowsMeetsTheInfinityPolicy) {
  // f = 1.5 takes the largest number beyond binary32; the next block of the macro block is untouched.
  std::vector<float> values = filled(64, 1.0F);
  values[0] = float_from_bits(0x7F7FFFFFU);
  const std::int64_t shape[] = {1, 64};
  const auto c = correct(rceil, stack("mbs-64"), view_of(values, shape));
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(c->first.macro, std::vector<std::uint8_t>{128});
  EXPECT_EQ(scale_of(c->first, 0, 0), 255);
  EXPECT_EQ(scale_of(c->first, 0, 1), 125);
}

TEST(MacroBlock, PartialTail) {
  // 160 elements: a macro block of 128 and one of 32, each with its own M.
  std::vector<float> values = filled(160, 1.0F);
  values[159] = 5.0F;
  const std::int64_t shape[] = {1, 160};
  const auto c = correct(rceil, stack("mbs"), view_of(values, shape));
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(c->first.macro, (std::vector<std::uint8_t>{128, 51}));
  // A tail within a block: what is padded is zero and changes nothing.
  std::vector<float> cut(values.begin(), values.begin() + 130);
  const std::int64_t cut_shape[] = {1, 130};
  const auto padded = correct(rceil, stack("mbs"), view_of(cut, cut_shape), {.quantize = {.tail = Tail::pad}});
  ASSERT_TRUE(padded.ok());
  EXPECT_EQ(padded->first.macro, (std::vector<std::uint8_t>{128, 128}));
  EXPECT_EQ(words_of(dequantize(*padded)), words_of(cut));
}

TEST(MacroBlock, TilesOfATwoDimensionalProfileShareTheByte) {
  // 64x64 in two matrices under 32x32 tiles and macro tiles of 32: M by tile, every row repeats the byte.
  std::vector<float> values = filled(2 * 64 * 64, 1.0F);
  values[0] = 5.0F;                       // matrix 0, tile (0, 0)
  values[64 * 64 + 40 * 64 + 33] = 7.0F;  // matrix 1, tile (1, 1)
  const std::int64_t shape[] = {2, 64, 64};
  const auto c = correct(*find_profile("mxfp4-2d/rceil"), stack("mbs-32"), view_of(values, shape));
  ASSERT_TRUE(c.ok());
  ASSERT_EQ(c->first.macro.size(), 256U);
  for (std::size_t row = 0; row < 128; ++row) {
    EXPECT_EQ(c->first.macro[2 * row], row < 32 ? 51 : 128) << row;
    EXPECT_EQ(c->first.macro[2 * row + 1], row >= 96 ? 182 : 128) << row;
  }
}

}  // namespace
}  // namespace fp4proof::portable
