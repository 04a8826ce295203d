// The oracle's corrections on values worked out by hand (or in 60-digit decimal arithmetic where a comment says so).

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <string>
#include <string_view>
#include <vector>

#include "formats/spec_profiles.h"
#include "reference/exact/correction.h"
#include "reference/exact/correction_arithmetic.h"
#include "reference/exact/element.h"
#include "reference/exact/extended.h"
#include "reference/exact/float_word.h"
#include "reference/exact/hadamard.h"
#include "reference/exact/noise.h"
#include "reference/exact/philox.h"
#include "reference/exact/residual_mask.h"

namespace fp4proof::exact {
namespace {

using Words = std::vector<std::uint32_t>;

std::uint32_t word(float value) { return std::bit_cast<std::uint32_t>(value); }

Words words(std::initializer_list<float> values, std::size_t length) {
  Words result;
  for (const float value : values) result.push_back(word(value));
  result.resize(length, 0);
  return result;
}

const CorrectionStack& stack(std::string_view name) { return *find_correction_stack(name); }

CorrectedMatrix corrected(std::string_view profile, const CorrectionStack& s, const Words& x, std::size_t rows,
                          std::uint32_t product = 0) {
  const Result<CorrectedMatrix> matrix =
      correct(*find_profile(profile), s, {{rows, x.size() / rows, rows}, x, {}}, product);
  EXPECT_TRUE(matrix.ok()) << profile << " " << s.name;
  return *matrix;
}

std::vector<std::uint8_t> codes_of(const CodedPart& part, std::size_t row, std::size_t count) {
  const auto& all = part.operand.rows[row].front().codes;
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
}

using Bytes = std::vector<std::uint8_t>;

// --- Philox ----------------------------------------------------------------------------------------------------------

TEST(OraclePhilox, KnownAnswersOfRandom123) {
  using Four = std::array<std::uint32_t, 4>;
  constexpr std::uint32_t ones = 0xFFFFFFFFU;
  EXPECT_EQ(philox_4x32_10({0, 0, 0, 0}, {0, 0}), (Four{0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8}));
  EXPECT_EQ(philox_4x32_10({ones, ones, ones, ones}, {ones, ones}),
            (Four{0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD}));
  EXPECT_EQ(philox_4x32_10({0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344}, {0xA4093822, 0x299F31D0}),
            (Four{0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1}));
}

TEST(OraclePhilox, AddressOfAnElement) {
  EXPECT_EQ(random_word(0, 0, 0, 2), 0xBC57AC4CU);
  EXPECT_EQ(random_word(0x299F31D0A4093822U, 11, 7, (std::uint64_t{5} << 34) + 4 * 9 + 3),
            philox_4x32_10({9, 5, 7, 11}, {0xA4093822, 0x299F31D0})[3]);
}

// --- Hadamard --------------------------------------------------------------------------------------------------------

constexpr HadamardSpec plain16 = {16, HadamardSigns::none, 0};

TEST(OracleHadamard, OneElementGivesARowOfTheMatrix) {
  Words x(16, 0);
  x[5] = word(1.0F);
  const Words y = hadamard_transform(plain16, 0, x, 16);
  for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(y[i], word(std::popcount(i & 5U) % 2 == 0 ? 0.25F : -0.25F)) << i;
}

TEST(OracleHadamard, ButterfliesRoundInTheirOrder) {
  // Place 0: RN(2^24 + 1) = 2^24, then RN(2^24 + 1) = 2^24 again; the exact sum is 2^24 + 2. Place 1: 2^24 - 1 + 1.
  const Words y = hadamard_transform(plain16, 0, words({0x1p24F, 1.0F, 1.0F}, 16), 16);
  EXPECT_EQ(y[0], word(0x1p22F));
  EXPECT_EQ(y[1], word(0x1p22F));
  EXPECT_EQ(y[2], word((0x1p24F - 1.0F) / 4));
  EXPECT_EQ(y[3], word((0x1p24F - 2.0F) / 4));
}

TEST(OracleHadamard, SizeSixtyFourAndInfinity) {
  const HadamardSpec plain64 = {64, HadamardSigns::none, 0};
  EXPECT_EQ(hadamard_transform(plain64, 0, Words(64, word(1.0F)), 64)[0], word(8.0F));
  EXPECT_EQ(hadamard_transform(plain64, 0, Words(64, word(1.0F)), 64)[63], 0U);
  Words x(64, float_infinity);
  EXPECT_EQ(hadamard_transform(plain64, 0, x, 64)[0], float_infinity);
  EXPECT_EQ(hadamard_transform(plain64, 0, x, 64)[1], float_nan);
}

TEST(OracleHadamard, SignsAreTheHighBitsOfThePhiloxWords) {
  const HadamardSpec fixed = {16, HadamardSigns::fixed, 42};
  const HadamardSpec fresh = {16, HadamardSigns::fresh, 42};
  int negative = 0;
  int renewed = 0;
  for (std::uint64_t column = 0; column < 1000; ++column) {
    const bool sign = hadamard_negates(fixed, 3, column);
    EXPECT_EQ(sign,
              (philox_4x32_10({static_cast<std::uint32_t>(column / 4), 0, 0, 11}, {42, 0})[column % 4] >> 31) == 1);
    EXPECT_EQ(sign, hadamard_negates(fresh, 0, column));
    negative += sign ? 1 : 0;
    renewed += sign != hadamard_negates(fresh, 3, column) ? 1 : 0;
  }
  EXPECT_NEAR(negative, 500, 60);
  EXPECT_NEAR(renewed, 500, 60);
  EXPECT_FALSE(hadamard_negates(plain16, 3, 0));
}

TEST(OracleHadamard, DecodingInverts) {
  // 4 at one place becomes sixteen numbers +-1, which MXFP4 holds; the inverse brings the 4 back, whatever the signs.
  for (const char* name : {"hadamard-16", "hadamard-16-plain", "hadamard-16-fresh"}) {
    const Words x = words({0, 0, 0, 4.0F}, 32);
    Words values = decode(corrected("mxfp4/ocp", stack(name), x, 1, 9));
    for (std::uint32_t& value : values)
      value = value == float_sign ? 0 : value;  // zeros come back with the column's sign
    EXPECT_EQ(values, x) << name;
  }
}

// --- Macro blocks ----------------------------------------------------------------------------------------------------

TEST(OracleMacroBlock, MultiplyingByte) {
  const auto byte = [](float largest_magnitude, Element element = Element::e2m1) {
    return int{macro_byte(element, MacroForm::multiply, float_value(word(largest_magnitude)))};
  };
  EXPECT_EQ(byte(6.0F), 0);
  EXPECT_EQ(byte(5.0F), 51);   // 6/5 = 1 + 51.2/256
  EXPECT_EQ(byte(7.0F), 182);  // 6/7 = (1 + 182.86/256) / 2
  EXPECT_EQ(byte(0.0F), 0);
  EXPECT_EQ(byte(0x1p-127F), 0);           // 6 * 2^127 is infinite
  EXPECT_EQ(byte(0x1.8p-126F), 0);         // 2^128 is infinite
  EXPECT_EQ(byte(0x1.800002p-126F), 255);  // just below 2^128
  EXPECT_EQ(byte(448.0F, Element::e4m3), 0);
  EXPECT_EQ(byte(256.0F, Element::e4m3), 192);  // 1.75
}

TEST(OracleMacroBlock, LoweredWhereTheProductExceeds) {
  // 6 / (1 + 3/256) = 5.930501...; the binary32 number above it has a quotient that rounds to 1 + 3/256.
  const std::uint32_t above = 0x40BDC6ACU;
  EXPECT_GT(macro_factor(3) * float_value(above), Rational(6));
  EXPECT_EQ(macro_byte(Element::e2m1, MacroForm::multiply, float_value(above)), 2);
  EXPECT_EQ(macro_byte(Element::e2m1, MacroForm::multiply, float_value(above - 1)), 3);
}

TEST(OracleMacroBlock, Bfloat16IsNeverLowered) {
  for (const Element element : {Element::e2m1, Element::e2m3, Element::e3m2, Element::e4m3, Element::e5m2}) {
    for (std::uint32_t mantissa = 0; mantissa < 128; ++mantissa) {
      const Rational m = float_value(word(1.0F) + (mantissa << 16));
      const Rational quotient = largest(element) / m;
      const Rational significand = quotient.scaled(-quotient.floor_log2());
      const std::uint8_t byte = macro_byte(element, MacroForm::multiply, m);
      EXPECT_EQ(Integer(256 + byte), significand.scaled(8).floor());
      EXPECT_LE(macro_factor(byte) * m, largest(element).scaled(-quotient.floor_log2()));
    }
  }
}

TEST(OracleMacroBlock, DividingByte) {
  const auto byte = [](float largest_magnitude) {
    return int{macro_byte(Element::e2m1, MacroForm::divide, float_value(word(largest_magnitude)))};
  };
  EXPECT_EQ(byte(5.0F), 170);  // 5/6 = (1 + 170.67/256) / 2
  EXPECT_EQ(byte(9.0F), 128);
  EXPECT_EQ(byte(0x1.8p-124F), 0);  // 2^-126
  EXPECT_EQ(byte(0x1p-124F), 0);    // 1.33 * 2^-127 is subnormal
  EXPECT_EQ(byte(0.0F), 0);
}

TEST(OracleMacroBlock, Weights) {
  EXPECT_EQ(macro_weight(MacroForm::multiply, 128), 0x3F2AAAABU);
  EXPECT_EQ(macro_weight(MacroForm::divide, 128), word(1.5F));
  EXPECT_EQ(macro_weight(MacroForm::multiply, 51), 0x3F5578E9U);  // 256/307
}

TEST(OracleMacroBlock, CodesAndValues) {
  // f = 307/256: 5 f = 5.996, coded 6 under scale 1, stands for RN(6 * 256/307).
  const CorrectedMatrix m = corrected("mxfp4/rceil", stack("mbs-32"), words({5.0F, -1.0F}, 32), 1);
  EXPECT_EQ(m.first.macro, Bytes{51});
  EXPECT_EQ(m.first.operand.rows[0][0].scale, 127);
  EXPECT_EQ(codes_of(m.first, 0, 3), (Bytes{7, 10, 0}));
  EXPECT_EQ(decode(m)[0], 0x40A01AAFU);
}

TEST(OracleMacroBlock, DividingFormCodesAndValues) {
  // f = 426/256: 5 / f = 3.0047, scale of even: 2^-1 (1.5023 stays), 6.009 clips to 6, stands for 3 f = 4.9921875.
  const CorrectedMatrix m = corrected("mxfp4/even", stack("mbs-divide"), words({5.0F}, 32), 1);
  EXPECT_EQ(m.first.macro, Bytes{170});
  EXPECT_EQ(m.first.operand.rows[0][0].scale, 126);
  EXPECT_EQ(codes_of(m.first, 0, 1), Bytes{7});
  EXPECT_EQ(decode(m)[0], word(4.9921875F));
}

TEST(OracleMacroBlock, TailsAndTiles) {
  Words x(2 * 160, word(6.0F));
  for (std::size_t c = 128; c < 160; ++c) x[c] = word(5.0F);
  EXPECT_EQ(corrected("mxfp4/rceil", stack("mbs"), x, 2).first.macro, (Bytes{0, 51, 0, 0}));
  // In 2D rows 0 to 127 share: 5 in row 0 counts for every row where no other is larger.
  Words tile(64 * 64, word(1.0F));
  tile[33 * 64 + 63] = word(5.0F);
  const CorrectedMatrix m = corrected("mxfp4-2d/rceil", stack("mbs"), tile, 64);
  EXPECT_EQ(m.first.macro, Bytes(64, 51));
  CorrectionStack half = stack("mbs-32");
  Bytes expected(128, 128);  // of 1: 6 = 1.5 * 4
  for (std::size_t row = 32; row < 64; ++row) expected[2 * row + 1] = 51;
  EXPECT_EQ(corrected("mxfp4-2d/rceil", half, tile, 64).first.macro, expected);
}

// --- Residual --------------------------------------------------------------------------------------------------------

TEST(OracleResidual, TwoOfFour) {
  const auto pair = [](std::array<std::uint32_t, 4> r) {
    const KeptPair kept = kept_of_four(r);
    return std::array<int, 2>{kept.first, kept.second};
  };
  using Two = std::array<int, 2>;
  EXPECT_EQ(pair({word(1), word(-3), word(3), word(2)}), (Two{1, 2}));
  EXPECT_EQ(pair({word(2), word(-2), word(2), word(2)}), (Two{0, 1}));
  EXPECT_EQ(pair({word(1), word(2), word(-2), word(2)}), (Two{1, 2}));
  EXPECT_EQ(pair({float_nan, word(-0.0F), 0, word(1)}), (Two{0, 3}));
  EXPECT_EQ(pair({word(1), word(5), float_sign | float_infinity, float_nan}), (Two{1, 2}));
  EXPECT_EQ(kept_pairs(Words{word(1), word(0), word(0), word(0), word(0), word(7)}, 8)[1].first, 0);
}

TEST(OracleResidual, KeptCountIsTheCeilingOfTheExactProduct) {
  EXPECT_EQ(kept_count(0.5F, 5), 3U);
  EXPECT_EQ(kept_count(0.5F, 6), 3U);
  EXPECT_EQ(kept_count(0.1F, 10), 2U);  // 0.1F is a little above 1/10
  EXPECT_EQ(kept_count(1.0F, 7), 7U);
  EXPECT_EQ(kept_count(1e-30F, 7), 1U);
}

TEST(OracleResidual, Channels) {
  ResidualSpec spec = stack("resq-channels").residual;
  // Sums of squares: 2, 4, 2, NaN counts as 0 so 0, 4; ceil(2.5) = 3 columns: 1, 4 and the lower of 0 and 2.
  const Words r = {word(1), word(2), word(-1), float_nan, word(0), word(-1), word(0), word(1), word(0), word(2)};
  EXPECT_EQ(residual_mask(spec, r, r, 2, 5), (Bytes{1, 1, 0, 0, 1, 1, 1, 0, 0, 1}));
}

TEST(OracleResidual, ChannelSumsRoundToBinary64) {
  ResidualSpec spec = stack("resq-channels").residual;
  spec.fraction = 0.5F;
  // 2^54 + 1 + 1 rounds to 2^54 twice; 2^54 in one square is equal, and the lower column wins.
  const Words r = {word(0x1p27F), word(0x1p27F), word(0), word(1), word(0), word(1)};
  EXPECT_EQ(residual_mask(spec, r, r, 3, 2), (Bytes{1, 0, 1, 0, 1, 0}));
  // In the other order 1 + 1 + 2^54 keeps the 2.
  const Words s = {word(0), word(2), word(0), word(2), word(0x1p27F), word(0x1p27F)};
  EXPECT_EQ(residual_mask(spec, s, s, 3, 2), (Bytes{0, 1, 0, 1, 0, 1}));
}

TEST(OracleResidual, Tiles) {
  ResidualSpec spec = stack("rfq-max").residual;
  spec.tile_rows = 2;
  spec.tile_cols = 2;
  // Tiles of 3 x 5: largest |x| 4, 9, 1 / NaN as 0, 4, infinite.
  const Words x = {word(-4),  word(1), word(9), word(0), word(1),  //
                   word(0),   word(2), word(3), word(3), word(-1),
                   float_nan, word(0), word(4), word(0), float_sign | float_infinity};
  EXPECT_EQ(residual_mask(spec, x, x, 3, 5), (Bytes{1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1}));
  spec.mask = ResidualMask::tiles_above;
  spec.threshold = 4.0F;
  EXPECT_EQ(residual_mask(spec, x, x, 3, 5), (Bytes{0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1}));
  spec.mask = ResidualMask::top_tiles;
  spec.measure = TileMeasure::residual_l2;
  spec.fraction = 0.3F;  // ceil(1.8) = 2 of 6: the infinite one and 81 + 9 + 9
  EXPECT_EQ(residual_mask(spec, Words(15, 0), x, 3, 5), (Bytes{0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1}));
}

TEST(OracleResidual, CodesValuesAndPackedForm) {
  // Scale 1: 6, 6, 0.5, 0.5. Residual 0, -0.75, 0.125, -0.1875, of which places 1 and 3 stay; its scale is 2^-3.
  const CorrectedMatrix m = corrected("mxfp4/ocp", stack("resq"), words({6.0F, 5.25F, 0.625F, 0.3125F}, 32), 1);
  EXPECT_EQ(codes_of(m.first, 0, 4), (Bytes{7, 7, 1, 1}));
  EXPECT_EQ(m.residual->operand.rows[0][0].scale, 124);
  EXPECT_EQ(codes_of(*m.residual, 0, 5), (Bytes{0, 15, 0, 11, 0}));
  EXPECT_EQ(decode(m), words({6.0F, 5.25F, 0.5F, 0.3125F}, 32));
  const PackedResidual packed = pack_residual(m);
  EXPECT_EQ(packed.codes, (Bytes{0xBF, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(packed.places, (Bytes{0x4D, 0x44, 0x44, 0x44}));
}

TEST(OracleResidual, AlphaMultipliesTheDecodedNumber) {
  const CorrectedMatrix m = corrected("mxfp4/ocp", stack("fallback"), words({6.0F, 5.25F}, 32), 1);
  EXPECT_EQ(decode(m), words({6.0F, 5.625F}, 32));
}

TEST(OracleResidual, OfBfloat16IsBfloat16) {
  for (const char* profile : {"mxfp4/ocp", "mxfp4/rceil", "mxfp4/even", "hif4/gcc", "hif4/exact"}) {
    Words x(64 * 20);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const std::uint32_t random = random_word(5, 10, 0, i);
      x[i] = (random & 0x807F0000U) | ((118U + random % 12) << 23);
    }
    for (const std::uint32_t r : corrected(profile, stack("rfq"), x, 4).residual_words)
      EXPECT_EQ(round_word_to_bf16(r), r) << profile;
  }
}

TEST(OracleResidual, NanAndTensorScale) {
  Words x = words({1.0F, 2.0F}, 64);
  x[40] = float_nan;
  const Words values = decode(corrected("mxfp4/ocp", stack("rfq"), x, 1));
  EXPECT_EQ(values[0], word(1.0F));
  EXPECT_EQ(values[32], float_nan);
  // 2688 and 2688 * 2^-4: tensor scale 1; the residual of a grid point is zero, whose tensor scale is 1 by rule.
  const CorrectedMatrix exact_one = corrected("nvfp4/tensor-scale", stack("rfq"), words({2688.0F}, 16), 1);
  EXPECT_EQ(exact_one.first.operand.tensor_scale, float_one);
  EXPECT_EQ(exact_one.residual->operand.tensor_scale, float_one);
  // 2688 and 1200: 2688 = 448 * 6, 1200/448 = 2.68 is coded 3, residual -144, whose tensor scale is RN(144/2688).
  const CorrectedMatrix m = corrected("nvfp4/tensor-scale", stack("rfq"), words({2688.0F, 1200.0F}, 16), 1);
  EXPECT_EQ(m.residual->operand.tensor_scale, round_to_float(Rational(144) / Rational(2688)));
}

// --- Three-quarters, tiles -------------------------------------------------------------------------------------------

TEST(OracleThreeQuarters, CodesAndValues) {
  // Floor scale of 7 is 1: 5.25 is coded 6 and stands for 8; 0.75 is a tie that goes to 1, which stands for 4/3.
  const CorrectedMatrix m = corrected("mxfp4/ocp", stack("three-quarters-rn"), words({7.0F, -1.0F}, 32), 1);
  EXPECT_EQ(m.first.operand.rows[0][0].scale, 127);
  EXPECT_EQ(codes_of(m.first, 0, 2), (Bytes{7, 10}));
  EXPECT_EQ(decode(m)[0], word(8.0F));
  EXPECT_EQ(decode(m)[1], 0xBFAAAAABU);
}

TEST(OracleThreeQuarters, Products) {
  const CorrectedMatrix a = corrected("mxfp4/ocp", stack("three-quarters-rn"), words({7.0F}, 32), 1);
  const CorrectedMatrix b = corrected("mxfp4/ocp", stack("none"), words({1.0F}, 32), 1);
  EXPECT_EQ(*gemm(a, b, Accumulator::seq512), Words{word(8.0F)});
  EXPECT_EQ(*gemm(a, a, Accumulator::exact), Words{word(64.0F)});
  const CorrectedMatrix c = corrected("mxfp4/ocp", stack("three-quarters-rn"), words({4.0F, 1.0F}, 32), 1);
  const CorrectedMatrix d = corrected("mxfp4/ocp", stack("none"), words({0.0F, 1.0F}, 32), 1);
  EXPECT_EQ(*gemm(c, d, Accumulator::seq512), Words{0x3FAAAAABU});  // 1 / 0.75
}

TEST(OracleTiles, OneScaleATileAndTransposition) {
  Words x(16 * 16);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = word(static_cast<float>(i % 16 + 1) * static_cast<float>(i / 16));
  Words transposed(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) transposed[i % 16 * 16 + i / 16] = x[i];
  const CorrectedMatrix m = corrected("mxfp4/ocp", stack("tile-8"), x, 16);
  // The tile of rows 8 to 15 and columns 0 to 7: 15 * 8 = 120, floor scale 2^(6 - 2).
  for (std::size_t row = 8; row < 16; ++row) EXPECT_EQ(m.first.operand.rows[row][0].scale, 131);
  const Words values = decode(m);
  const Words of_transposed = decode(corrected("mxfp4/ocp", stack("tile-8"), transposed, 16));
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_EQ(values[i], of_transposed[i % 16 * 16 + i / 16]);
}

TEST(OracleTiles, MatricesOfABatchDoNotShareTiles) {
  // Two matrices of 5 rows; each is padded to a tile of 8 by itself.
  Words x(10 * 8, word(1.0F));
  x[9 * 8] = word(48.0F);
  const Result<CorrectedMatrix> m = correct(*find_profile("mxfp4/ocp"), stack("tile-8"), {{10, 8, 5}, x, {}});
  ASSERT_TRUE(m.ok());
  EXPECT_EQ(m->first.operand.rows[4][0].scale, 125);
  EXPECT_EQ(m->first.operand.rows[5][0].scale, 130);
}

// --- Products --------------------------------------------------------------------------------------------------------

TEST(OracleCorrectedGemm, MacroBlocks) {
  const CorrectedMatrix a = corrected("mxfp4/rceil", stack("mbs-32"), words({5.0F}, 32), 1);
  const CorrectedMatrix b = corrected("mxfp4/rceil", stack("none"), words({1.0F}, 32), 1);
  EXPECT_EQ(*gemm(a, b, Accumulator::seq512), Words{0x40A01AAFU});  // RN(6 * RN(256/307))
  EXPECT_EQ(*gemm(b, a, Accumulator::exact), Words{0x40A01AAFU});
  EXPECT_FALSE(gemm(a, b, Accumulator::tc_hopper_fp16).ok());
  EXPECT_FALSE(gemm(a, corrected("mxfp4/rceil", stack("mbs-64"), words({1.0F}, 32), 1), Accumulator::seq).ok());
}

TEST(OracleCorrectedGemm, MacroChunksOf512) {
  // Every factor is 1: 6 * 2^22 in slice 0, 0.75 in slices 16 and 17. Spacing there is 2: 0.75 is lost twice by seq,
  // 1.5 is not by seq512.
  Words x(18 * 32, 0);
  x[0] = word(6.0F * 0x1p22F);
  x[16 * 32] = word(0.75F);
  x[17 * 32] = word(0.75F);
  const CorrectedMatrix a = corrected("mxfp4/rceil", stack("mbs-32"), x, 1);
  const CorrectedMatrix b = corrected("mxfp4/rceil", stack("none"), Words(18 * 32, word(1.0F)), 1);
  EXPECT_EQ(*gemm(a, b, Accumulator::seq), Words{word(25165824.0F)});
  EXPECT_EQ(*gemm(a, b, Accumulator::seq512), Words{word(25165826.0F)});
}

TEST(OracleCorrectedGemm, SliceOfFourBlocksIsWeighedOnce) {
  // g = RN(256/307): blocks of 6 and 1.5 give part 7.5 and RN(7.5 g) = 0x40C8215A; RN(6 g) + RN(1.5 g) is one more.
  Words x(128, 0);
  x[0] = word(5.0F);
  x[127] = word(1.25F);
  const CorrectedMatrix a = corrected("mxfp4/rceil", stack("mbs"), x, 1);
  const CorrectedMatrix b = corrected("mxfp4/rceil", stack("none"), Words(128, word(1.0F)), 1);
  EXPECT_EQ(a.first.macro, Bytes{51});
  EXPECT_EQ(*gemm(a, b, Accumulator::seq512), Words{0x40C8215AU});
}

TEST(OracleCorrectedGemm, Residual) {
  const CorrectedMatrix a = corrected("mxfp4/ocp", stack("fallback"), words({6.0F, 5.25F}, 32), 1);
  const CorrectedMatrix b = corrected("mxfp4/ocp", stack("none"), words({1.0F, 2.0F}, 32), 1);
  EXPECT_EQ(*gemm(a, b, Accumulator::seq512), Words{word(18.0F - 0.75F)});
  EXPECT_EQ(*gemm(b, a, Accumulator::tc_blackwell_mxf4), Words{word(17.25F)});
  EXPECT_FALSE(gemm(a, a, Accumulator::seq512).ok());
}

TEST(OracleCorrectedGemm, HadamardOnBothSides) {
  const Words x = words({0, 0, 0, 4.0F}, 32);
  const CorrectedMatrix a = corrected("mxfp4/ocp", stack("hadamard-16-fresh"), x, 1, 4);
  EXPECT_EQ(*gemm(a, a, Accumulator::seq512), Words{word(16.0F)});
  EXPECT_FALSE(gemm(a, corrected("mxfp4/ocp", stack("hadamard-16-fresh"), x, 1, 5), Accumulator::seq512).ok());
  EXPECT_FALSE(gemm(a, corrected("mxfp4/ocp", stack("none"), x, 1), Accumulator::seq512).ok());
}

// --- Refusals --------------------------------------------------------------------------------------------------------

TEST(OracleStacks, Refusals) {
  const auto allowed = [](std::string_view profile, const CorrectionStack& s) {
    return check_stack(*find_profile(profile), s).ok();
  };
  for (const CorrectionStack& s : correction_stacks()) {
    const bool has_profile = allowed("mxfp4/ocp", s) || allowed("mxfp4/rceil", s) || allowed("mxfp4/even", s);
    EXPECT_TRUE(has_profile) << s.name;
  }
  EXPECT_FALSE(allowed("mxfp4/rceil-sr", stack("resq")));
  EXPECT_FALSE(allowed("mxfp4/ocp", stack("mbs")));
  EXPECT_FALSE(allowed("mxfp4/rceil", stack("mbs-divide")));
  EXPECT_FALSE(allowed("mxfp4/cuda-rceil", stack("mbs")));
  EXPECT_FALSE(allowed("hif4/gcc", stack("mbs")));
  EXPECT_FALSE(allowed("nvfp4/direct", stack("mbs-32")));
  EXPECT_FALSE(allowed("mxfp4/rceil", stack("three-quarters")));
  EXPECT_FALSE(allowed("hif4/gcc", stack("three-quarters")));
  EXPECT_FALSE(allowed("hif4/gcc", stack("tile-32")));
  EXPECT_FALSE(allowed("mxfp4-2d/ocp", stack("hadamard-16")));
  EXPECT_FALSE(allowed("hif4/pto-a6", stack("resq")));
  EXPECT_TRUE(allowed("hif4/pto-a6", stack("sr")));
  EXPECT_FALSE(allowed("mxfp4/triton-round-up", stack("hadamard-16")));
  CorrectionStack tiles_and_macro = stack("mbs-32");
  tiles_and_macro.tile = 64;
  EXPECT_FALSE(allowed("mxfp4/rceil", tiles_and_macro));
  CorrectionStack alpha = stack("rfq");
  for (const std::uint32_t bad : {0U, 0x80000000U, float_infinity, float_nan}) {
    alpha.residual.alpha = std::bit_cast<float>(bad);
    EXPECT_FALSE(allowed("mxfp4/ocp", alpha));
  }
  EXPECT_FALSE(correct(*find_profile("hif4/gcc"), stack("hadamard-16"), {{1, 72, 1}, Words(72, 0), {}}).ok());
}

// --- Noise -----------------------------------------------------------------------------------------------------------

TEST(OracleNoise, GeometricSteps) {
  EXPECT_EQ(geometric_step(word(4.0F), word(1.0F), 1, 2), word(2.0F));
  EXPECT_EQ(geometric_step(word(1.0F), word(2.0F), 1, 2), 0x3FB504F3U);  // sqrt 2 = 1.41421356...
  EXPECT_EQ(geometric_step(word(1.0F), word(2.0F), 1, 3), 0x3FA14518U);  // cube root of 2 = 1.25992105...
  // 60-digit decimal arithmetic.
  constexpr std::uint32_t expected[] = {0x3C23D70A, 0x3BF5B9AF, 0x3BB8449C, 0x3B8A2E77, 0x3B4F3E37,
                                        0x3B1B690D, 0x3AE91528, 0x3AAEC98E, 0x3A83126F};
  for (std::uint32_t i = 0; i <= 8; ++i) EXPECT_EQ(geometric_step(word(0.01F), word(0.001F), i, 8), expected[i]) << i;
}

TEST(OracleNoise, Intervals) {
  const NoiseIntervals silent = {word(0.01F), word(0.001F), 10, true, 105};
  EXPECT_EQ(noise_sigma(silent, 0), 0U);
  EXPECT_EQ(noise_sigma(silent, 10), 0U);  // floor(100 / 105)
  EXPECT_EQ(noise_sigma(silent, 11), word(0.01F));
  EXPECT_EQ(noise_sigma(silent, 104), word(0.001F));
  const NoiseIntervals loud = {word(0.01F), word(0.001F), 10, false, 105};
  EXPECT_EQ(noise_sigma(loud, 0), word(0.01F));
  EXPECT_EQ(noise_sigma(loud, 104), word(0.001F));
}

TEST(OracleNoise, Weights) {
  EXPECT_EQ(noisy_weight(word(1.0F), word(0.5F), word(-1.0F)), word(0.5F));
  EXPECT_EQ(noisy_weight(word(-0.0F), 0, word(-1.0F)), word(-0.0F));
  // RN(1 + RN(2^-24 * 1.5)) = 1 + 2^-23; RN(1 + 2^-24) = 1.
  EXPECT_EQ(noisy_weight(word(1.0F), word(0x1p-24F), word(1.5F)), word(1.0F) + 1);
  EXPECT_EQ(noisy_weight(word(1.0F), word(0x1p-24F), word(1.0F)), word(1.0F));
}

}  // namespace
}  // namespace fp4proof::exact
