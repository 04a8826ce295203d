// The oracle of the error decomposition: held against values typed by hand, then the portable decomposition against it.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/spec_profiles.h"
#include "reference/exact/float_word.h"
#include "tests/exhaustive/decomposition_comparison.h"

namespace fp4proof {
namespace {

using exact::Rational;

/// A block of the profile that starts with `values`, the rest +0.
std::vector<std::uint32_t> block_of(const Profile& profile, std::vector<float> values) {
  values.resize(static_cast<std::size_t>(profile.block.size()));
  std::vector<std::uint32_t> words;
  for (const float value : values) words.push_back(float_bits(value));
  return words;
}

exact::SplitBlock split(const char* name, const std::vector<float>& values) {
  const Profile& profile = *find_profile(name);
  return exact::split_block(profile, block_of(profile, values));
}

std::vector<int> codes_of(const exact::SplitBlock& block, std::size_t count) {
  std::vector<int> codes;
  for (std::size_t i = 0; i < count; ++i) codes.push_back(block.elements[i].ideal_code);
  return codes;
}

double number(const Rational& value) { return static_cast<double>(value.to_cpp_rational()); }

// ---------------------------------------------------------------------------------------------------------------------
// The ideal codes
// ---------------------------------------------------------------------------------------------------------------------

TEST(IdealCodes, E2m1ThresholdsTiesToEven) {
  // m = 24: the ideal scale is 4, thresholds are 1 3 5 7 10 14 20; at each of them the even of the two codes.
  const std::vector<float> at = {24, 1, 3, 5, 7, 10, 14, 20};
  EXPECT_EQ(codes_of(split("mxfp4/rceil", at), 8), (std::vector<int>{7, 0, 2, 2, 4, 4, 6, 6}));
  const std::vector<float> above = {24, 1.001F, 3.001F, 5.001F, 7.001F, 10.001F, 14.001F, 20.001F};
  EXPECT_EQ(codes_of(split("mxfp4/rceil", above), 8), (std::vector<int>{7, 1, 2, 3, 4, 5, 6, 7}));
  const std::vector<float> below = {24, 0.999F, 2.999F, 4.999F, 6.999F, 9.999F, 13.999F, 19.999F};
  EXPECT_EQ(codes_of(split("mxfp4/rceil", below), 8), (std::vector<int>{7, 0, 1, 2, 3, 4, 5, 6}));
}

TEST(IdealCodes, DeadzoneOfE2m1Is24TimesXNotAboveM) {
  for (const char* name : {"mxfp4/ocp", "mxfp4/rceil", "mxfp4/even", "nvfp4/direct"}) {
    const exact::SplitBlock block = split(name, {-24, 1, -1, 0x1.000002p0F, -0x1.000002p0F, 0x1p-149F, 0});
    const std::vector<bool> expected = {false, true, true, false, false, true, false};
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_EQ(block.elements[i].in_deadzone, expected[i]) << name << " element " << i;
  }
}

TEST(IdealCodes, TieRulesOfTheProfile) {
  // microxcaling "nearest" is ties away: the deadzone's edge belongs to the grid.
  EXPECT_EQ(codes_of(split("mxfp4/microxcaling-cpp", {24, 1, 3, 5, 7, 10, 14, 20}), 8),
            (std::vector<int>{7, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(codes_of(split("mxfp4/ggml", {24, 1, 3, 5, 7, 10, 14, 20}), 8), (std::vector<int>{7, 0, 1, 2, 3, 4, 5, 6}));
}

TEST(IdealCodes, StochasticSpendsTheSameWord) {
  // y = 1.25 lies half way between 1 and 1.5: up for words from 2^31 on.
  const Profile& profile = *find_profile("mxfp4/rceil-sr");
  const std::vector<std::uint32_t> words = block_of(profile, {24, 5});
  std::vector<std::uint32_t> random(words.size(), 0x7FFFFFFFU);
  EXPECT_EQ(exact::split_block(profile, words, random).elements[1].ideal_code, 2);
  random[1] = 0x80000000U;
  EXPECT_EQ(exact::split_block(profile, words, random).elements[1].ideal_code, 3);
}

TEST(IdealCodes, Hif4LevelBitsAtTheirThresholds) {
  // m = 7, the unit is 1. Eighths begin at 0, 8, 16, ...; quarters of them at multiples of 4.
  std::vector<float> values(64);
  values[0] = 7;         // level 2 and, 3.5 being at least 2, level 3
  values[4] = 3.99F;     // the same eighth: 1.995 is below 2
  values[8] = 4;         // exactly 4
  values[12] = -4;       // 2 after level 2: set
  values[16] = 3.9999F;  // below 4, above 2: level 3 alone
  values[20] = 1.9999F;  // nothing
  values[24] = 2;        // exactly 2
  const exact::SplitBlock block = split("hif4/gcc", values);
  EXPECT_EQ(block.ideal_level2, (std::vector<std::uint8_t>{1, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(block.ideal_level3, (std::vector<std::uint8_t>{1, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(block.elements[0].ideal_code, 7);   // 7 / 4 = 1.75
  EXPECT_EQ(block.elements[4].ideal_code, 7);   // 1.995 clamps
  EXPECT_EQ(block.elements[8].ideal_code, 4);   // 4 / 4 = 1
  EXPECT_EQ(block.elements[16].ideal_code, 7);  // 2 clamps to 1.75
  EXPECT_EQ(block.elements[20].ideal_code, 7);
  EXPECT_EQ(block.elements[24].ideal_code, 4);
}

TEST(IdealCodes, Hif4TilesShareBitsOf8x8And4x4) {
  const Profile& profile = *find_profile("hif4-2d/exact");
  std::vector<float> values(64 * 64);
  values[9 * 64 + 20] = 7;  // row band 1, column band 2; quarters (2, 5)
  const exact::SplitBlock block = exact::split_block(profile, block_of(profile, values));
  for (std::size_t cell = 0; cell < 64; ++cell) EXPECT_EQ(block.ideal_level2[cell], cell == 1 * 8 + 2) << cell;
  for (std::size_t cell = 0; cell < 256; ++cell) EXPECT_EQ(block.ideal_level3[cell], cell == 2 * 16 + 5) << cell;
}

// ---------------------------------------------------------------------------------------------------------------------
// Terms
// ---------------------------------------------------------------------------------------------------------------------

TEST(Terms, WorkedBlock) {
  // rceil, m = 7: scale 2, ideal scale 7/6. Times six: x = 7 codes 4 * 2 (a tie 3.5 goes to 4); Q* = 7.
  const exact::SplitBlock block = split("mxfp4/rceil", {7, -1, 0.28F, 1.75F});
  EXPECT_EQ(number(block.elements[0].error), 6.0);
  EXPECT_EQ(number(block.elements[0].scale), 6.0);
  EXPECT_EQ(number(block.elements[0].grid), 0.0);
  // -1: y = 0.5 exactly, Q = -1. Ideal y = 6/7 = 0.857, rounds to 1: 6 Q* = -7.
  EXPECT_EQ(number(block.elements[1].error), 0.0);
  EXPECT_EQ(number(block.elements[1].scale), 1.0);
  EXPECT_EQ(number(block.elements[1].grid), -1.0);
  // 0.28 is in the deadzone, 24 * 0.28 = 6.72 <= 7; Q is 0 too.
  EXPECT_TRUE(block.elements[2].in_deadzone);
  EXPECT_TRUE(block.elements[2].zeroed);
  EXPECT_EQ(number(block.elements[2].scale), 0.0);
  EXPECT_EQ(block.elements[2].deadzone, Rational(-6) * exact::float_value(float_bits(0.28F)));
  // 1.75: y = 0.875, to 1: Q = 2. Ideal y = 1.5, on the grid: 6 Q* = 10.5.
  EXPECT_EQ(number(block.elements[3].error), 1.5);
  EXPECT_EQ(number(block.elements[3].scale), 1.5);
  EXPECT_EQ(number(block.elements[3].grid), 0.0);
}

TEST(Terms, FactorsAndIdealMaximum) {
  // The largest magnitude is its own ideal value in every element, so its grid term is zero; HiFX3 and HiFX5 clamp or
  // reach 7 otherwise: 7/4 is no S1P1 value (1.5), and is one of S1P3.
  const std::vector<std::pair<const char*, int>> factors = {
      {"mxfp4/ocp", 6},       {"nvfp4/direct", 6}, {"mxfp8-e4m3/ocp", 7}, {"mxfp8-e5m2/ocp", 7}, {"mxfp6-e3m2/ocp", 7},
      {"mxfp6-e2m3/ocp", 15}, {"hif4/gcc", 7},     {"hif4-2d/gcc", 7},    {"hifx5/gcc", 7},      {"hifx3/gcc", 7}};
  for (const auto& [name, factor] : factors) {
    EXPECT_EQ(exact::error_factor(*find_profile(name)), factor) << name;
    const exact::SplitBlock block = split(name, {-10.1F});
    const bool reaches = std::string(name) != "hifx3/gcc";
    EXPECT_EQ(block.elements[0].grid.is_zero(), reaches) << name;
  }
  // HiFX3: F Q* = 1.5 * 4 * m, F x = 7 m.
  EXPECT_EQ(number(split("hifx3/gcc", {-8.0F}).elements[0].grid), 8.0);
}

TEST(Terms, ZeroBlockAndSpecials) {
  const exact::SplitBlock zero = split("mxfp4/ocp", {});
  for (const exact::SplitElement& element : zero.elements) {
    EXPECT_FALSE(element.excluded || element.in_deadzone || element.zeroed);
    EXPECT_TRUE(element.error.is_zero() && element.grid.is_zero());
  }
  const float nan = canonical_nan();
  const exact::SplitBlock poisoned = split("mxfp4/ocp", {6, nan, 1});
  for (const exact::SplitElement& element : poisoned.elements) EXPECT_TRUE(element.excluded);
  const exact::SplitBlock ignored = split("mxfp4/ggml", {6, nan, 1});
  EXPECT_FALSE(ignored.elements[0].excluded);
  EXPECT_TRUE(ignored.elements[1].excluded);
  EXPECT_FALSE(ignored.elements[2].excluded);
  EXPECT_EQ(ignored.amax, Rational(6));
}

// ---------------------------------------------------------------------------------------------------------------------
// Sums
// ---------------------------------------------------------------------------------------------------------------------

/// An element whose error times F is `error`, everything else zero.
exact::SplitElement with_error(const Rational& error) {
  exact::SplitElement element;
  element.error = error;
  element.grid = error;
  return element;
}

double sum_of_errors(const std::vector<exact::SplitElement>& elements) {
  const Profile& profile = *find_profile("mxfp4/ocp");
  const exact::SplitSums sums = exact::sum_row(profile, elements);
  return std::bit_cast<double>(sums.words[static_cast<std::size_t>(exact::SplitSum::error)]);
}

TEST(Sums, LanesFoldAndSegmentsOrder) {
  const Rational big = Rational::power_of_two(27);  // squared 2^54: half an ulp of it is 2, one is 4
  // Lanes 0 and 32 are one lane: 2^54 + 1 rounds back each time.
  std::vector<exact::SplitElement> elements(128);
  elements[0] = with_error(big);
  for (const std::size_t i : {32U, 64U, 96U}) elements[i] = with_error(Rational(1));
  EXPECT_EQ(sum_of_errors(elements), 0x1p54);
  // Lanes 1, 17 fold to 2 before they meet lane 0; 1 and 3 and 17 and 19 make 4, which counts.
  std::vector<exact::SplitElement> spread(32);
  spread[0] = with_error(big);
  for (const std::size_t i : {1U, 3U, 17U, 19U}) spread[i] = with_error(Rational(1));
  EXPECT_EQ(sum_of_errors(spread), 0x1p54 + 4);
  // Places 16, 8, 4, 2 meet lane 0 one by one: each 1 is lost.
  std::vector<exact::SplitElement> lost(32);
  lost[0] = with_error(big);
  for (const std::size_t i : {16U, 8U, 4U, 2U}) lost[i] = with_error(Rational(1));
  EXPECT_EQ(sum_of_errors(lost), 0x1p54);
  // A second segment of its own: four ones in lane 0 of segment 1 are summed before they meet 2^54.
  std::vector<exact::SplitElement> segments(4096 + 128);
  segments[0] = with_error(big);
  for (const std::size_t i : {0U, 32U, 64U, 96U}) segments[4096 + i] = with_error(Rational(1));
  EXPECT_EQ(sum_of_errors(segments), 0x1p54 + 4);
}

TEST(Sums, ProductsRoundOnceAndCountsAreKept) {
  std::vector<exact::SplitElement> elements(32);
  elements[5] = with_error(Rational((std::int64_t{1} << 53) + 1));  // rounds to 2^53: counted, and squared after that
  elements[6].excluded = true;
  elements[7].in_deadzone = true;
  elements[8].zeroed = true;
  const exact::SplitSums sums = exact::sum_row(*find_profile("mxfp4/ocp"), elements);
  EXPECT_EQ(sums.inexact, 1);
  EXPECT_EQ(sums.elements, 32);
  EXPECT_EQ(sums.excluded, 1);
  EXPECT_EQ(sums.in_deadzone, 1);
  EXPECT_EQ(sums.zeroed, 1);
  EXPECT_EQ(sums.identity_failures, 0);
  EXPECT_EQ(std::bit_cast<double>(sums.words[2]), 0x1p106);
}

// ---------------------------------------------------------------------------------------------------------------------
// The portable road
// ---------------------------------------------------------------------------------------------------------------------

class PortableDecomposition : public testing::TestWithParam<Profile> {};

TEST_P(PortableDecomposition, EqualsTheOracle) {
  const Profile& profile = GetParam();
  const std::int64_t tiles = profile.block.rows == 1 ? 32 : 1;
  const portable::QuantizeOptions options{.tail = portable::Tail::pad, .seed = 77, .step = 3};
  std::uint64_t first = 0;
  for (const portable::DType dtype : {portable::DType::f32, portable::DType::bf16, portable::DType::f16}) {
    const exhaustive::Matrix matrix = exhaustive::random_matrix(profile, dtype, 4, first, tiles, 2, 3);
    EXPECT_EQ(exhaustive::difference(profile, matrix, options), "") << "dtype " << static_cast<int>(dtype);
    first += 2 * static_cast<std::uint64_t>(tiles);
  }
}

TEST_P(PortableDecomposition, EqualsTheOracleForAnotherQuantizedTensor) {
  // D8: Q(x) given from outside, here x rounded to eight bits with some NaN and zeros; Q* stays the profile's.
  const Profile& profile = GetParam();
  const exhaustive::Matrix matrix = exhaustive::random_matrix(profile, portable::DType::f32, 5, 0, 1, 4);
  std::vector<std::uint32_t> quantized = matrix.words;
  for (std::size_t i = 0; i < quantized.size(); ++i) {
    quantized[i] &= 0xFFFF0000U;
    if (i % 13 == 0) quantized[i] &= 0x80000000U;
    if (i % 17 == 0) quantized[i] = 0x80000000U;
    if (i % 29 == 0) quantized[i] = canonical_nan_bits;
  }
  EXPECT_EQ(exhaustive::difference(profile, matrix, {}, quantized), "");
}

INSTANTIATE_TEST_SUITE_P(Profiles, PortableDecomposition, testing::ValuesIn(profiles().begin(), profiles().end()),
                         [](const auto& tested) {
                           std::string name(tested.param.name);
                           for (char& c : name)
                             if (c == '/' || c == '-') c = '_';
                           return name;
                         });

TEST(PortableDecompositionOfLongRows, SegmentsOf4096) {
  for (const char* name : {"mxfp4/rceil", "nvfp4/tensor-scale", "hif4/gcc"}) {
    const Profile& profile = *find_profile(name);
    const std::int64_t blocks = (2 * 4096 + 192) / profile.block.cols;
    const exhaustive::Matrix matrix = exhaustive::random_matrix(profile, portable::DType::f32, 6, 0, 1, blocks);
    EXPECT_EQ(exhaustive::difference(profile, matrix, {}), "") << name;
  }
}

/// bfloat16 numbers of 2^-12 to 2^11, where no scale clamps, and beside them some of any smaller size.
exhaustive::Matrix unclamped_matrix(const Profile& profile, std::int64_t rows) {
  exhaustive::Matrix matrix{portable::DType::bf16, rows, 2 * profile.block.cols, {}};
  for (std::int64_t i = 0; i < matrix.rows * matrix.columns; ++i) {
    const std::uint32_t draw = random_word(9, Stream::cases, 0, static_cast<std::uint64_t>(i));
    const std::uint32_t field = i % 5 == 4 ? draw % 115 : 115 + draw % 24;
    matrix.words.push_back((draw & 0x807F0000U) | (field << 23));
  }
  return matrix;
}

TEST(PortableDecompositionOfBf16, EveryTermIsExactAndTheIdentityHolds) {
  for (const Profile& profile : profiles()) {
    const exhaustive::Matrix matrix = unclamped_matrix(profile, profile.block.rows == 1 ? 512 : 128);
    const std::vector<std::byte> bytes = exhaustive::bytes_of_matrix(matrix);
    const std::vector<std::int64_t> shape = {matrix.rows, matrix.columns};
    const auto total = portable::decompose(profile, {matrix.dtype, shape, bytes.data()});
    ASSERT_TRUE(total.ok()) << profile.name;
    EXPECT_EQ(total->inexact, 0) << profile.name;
    EXPECT_EQ(total->identity_failures, 0) << profile.name;
    EXPECT_EQ(total->compared(), matrix.rows * matrix.columns) << profile.name;
  }
}

TEST(PortableDecompositionOfBf16, AClampedScaleMayRoundATerm) {
  // hif4/gcc clamps at 49152: Q(2^100) = 344064, and 7 * 344064 - 7 * 2^100 takes more than 53 bits.
  const Profile& profile = *find_profile("hif4/gcc");
  exhaustive::Matrix matrix{portable::DType::bf16, 1, 64, std::vector<std::uint32_t>(64)};
  matrix.words[0] = float_bits(0x1p100F);
  EXPECT_EQ(exhaustive::difference(profile, matrix, {}), "");
  const std::vector<std::byte> bytes = exhaustive::bytes_of_matrix(matrix);
  const std::vector<std::int64_t> shape = {1, 64};
  EXPECT_EQ(portable::decompose(profile, {matrix.dtype, shape, bytes.data()})->inexact, 1);
}

}  // namespace
}  // namespace fp4proof
