// Elementary functions at single points. Expected words were computed in 70-digit decimal arithmetic and rounded
// once; the exhaustive comparison with MPFR is tests/exhaustive/strict_math_exhaustive.cpp.

#include "formats/strict_math.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

namespace fp4proof {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float quiet_nan = std::numeric_limits<float>::quiet_NaN();

struct Case {
  std::uint32_t input;
  std::uint32_t expected;
};

template <std::size_t N, class Function>
void expect_words(const std::array<Case, N>& cases, Function function) {
  for (const Case& c : cases) {
    EXPECT_EQ(float_bits(function(float_from_bits(c.input))), c.expected) << "input " << std::hex << c.input;
  }
}

TEST(StrictExp, KnownWords) {
  expect_words(std::array<Case, 16>{{{0x3F800000U, 0x402DF854U},
                                     {0xBF800000U, 0x3EBC5AB2U},
                                     {0x40490FDBU, 0x41B92025U},
                                     {0x33000000U, 0x3F800000U},
                                     {0xB3800000U, 0x3F7FFFFFU},
                                     {0x3EB17218U, 0x3FB504F3U},
                                     {0x3F317218U, 0x40000000U},
                                     {0xC1200000U, 0x383E6BCEU},
                                     {0x40A00000U, 0x431469C5U},
                                     {0x3DCCCCCDU, 0x3F8D763EU},
                                     {0x80000001U, 0x3F800000U},
                                     {0x42B17217U, 0x7F7FFF84U},    // the last finite result
                                     {0xC2AEAC50U, 0x007FFFE6U},    // subnormal
                                     {0xC2CE8ED0U, 0x00000001U},    // subnormal, one bit
                                     {0xC2CFF1B4U, 0x00000001U},    // the last result above 2^-150
                                     {0x00000000U, 0x3F800000U}}},  // exp(0) = 1
               [](float x) { return strict::exp(x); });
}

TEST(StrictExp, Limits) {
  EXPECT_EQ(strict::exp(float_from_bits(0x42B17218U)), infinity);
  EXPECT_EQ(strict::exp(infinity), infinity);
  EXPECT_EQ(strict::exp(std::numeric_limits<float>::max()), infinity);
  EXPECT_EQ(float_bits(strict::exp(float_from_bits(0xC2CFF1B5U))), 0U);
  EXPECT_EQ(float_bits(strict::exp(-infinity)), 0U);
  EXPECT_EQ(float_bits(strict::exp(-0.0F)), 0x3F800000U);
}

TEST(StrictLog, KnownWords) {
  expect_words(std::array<Case, 16>{{{0x00000001U, 0xC2CE8ED0U},
                                     {0x007FFFFFU, 0xC2AEAC50U},
                                     {0x00800000U, 0xC2AEAC50U},
                                     {0x3F7FFFFFU, 0xB3800000U},
                                     {0x3F800001U, 0x33FFFFFFU},
                                     {0x3F3504F3U, 0xBEB17219U},
                                     {0x3F3504F4U, 0xBEB17216U},
                                     {0x3FB504F3U, 0x3EB17217U},
                                     {0x3FB504F4U, 0x3EB1721AU},
                                     {0x40000000U, 0x3F317218U},
                                     {0x402DF854U, 0x3F7FFFFFU},
                                     {0x41200000U, 0x40135D8EU},
                                     {0x7F7FFFFFU, 0x42B17218U},
                                     {0x3DCCCCCDU, 0xC0135D8EU},
                                     {0x3F000000U, 0xBF317218U},
                                     {0x3F800000U, 0x00000000U}}},
               [](float x) { return strict::log(x); });
}

TEST(StrictLog, Limits) {
  EXPECT_EQ(strict::log(0.0F), -infinity);
  EXPECT_EQ(strict::log(-0.0F), -infinity);
  EXPECT_EQ(strict::log(infinity), infinity);
  for (const float negative : {-1.0F, -infinity, float_from_bits(0x80000001U)}) {
    EXPECT_EQ(float_bits(strict::log(negative)), canonical_nan_bits) << negative;
  }
}

TEST(StrictSqrt, KnownWords) {
  expect_words(std::array<Case, 8>{{{0x40000000U, 0x3FB504F3U},
                                    {0x40400000U, 0x3FDDB3D7U},
                                    {0x3DCCCCCDU, 0x3EA1E89BU},
                                    {0x00000001U, 0x1A3504F3U},
                                    {0x7F7FFFFFU, 0x5F7FFFFFU},
                                    {0x80000000U, 0x80000000U},
                                    {0x7F800000U, 0x7F800000U},
                                    {0xBF800000U, canonical_nan_bits}}},
               [](float x) { return strict::sqrt(x); });
}

TEST(StrictRsqrt, IsTheRootThenTheQuotient) {
  expect_words(std::array<Case, 9>{{{0x40000000U, 0x3F3504F3U},
                                    {0x40400000U, 0x3F13CD3AU},
                                    {0x3DCCCCCDU, 0x404A62C2U},
                                    {0x00000001U, 0x64B504F3U},
                                    {0x7F7FFFFFU, 0x1F800001U},
                                    {0x00000000U, 0x7F800000U},
                                    {0x80000000U, 0xFF800000U},
                                    {0x7F800000U, 0x00000000U},
                                    {0xBF800000U, canonical_nan_bits}}},
               [](float x) { return strict::rsqrt(x); });
}

TEST(StrictDivide, KnownWords) {
  const auto quotient = [](std::uint32_t a, std::uint32_t b) {
    return float_bits(strict::divide(float_from_bits(a), float_from_bits(b)));
  };
  EXPECT_EQ(quotient(0x3F800000U, 0x40400000U), 0x3EAAAAABU);
  EXPECT_EQ(quotient(0x40490FDBU, 0xC02DF854U), 0xBF93EEE0U);
  EXPECT_EQ(quotient(0x00000001U, 0x40000000U), 0x00000000U);  // a tie, to even
  EXPECT_EQ(quotient(0x00000003U, 0x40000000U), 0x00000002U);  // a tie, to even
  EXPECT_EQ(quotient(0x7F7FFFFFU, 0x00000001U), 0x7F800000U);
  EXPECT_EQ(quotient(0x3F800000U, 0x80000000U), 0xFF800000U);
  EXPECT_EQ(quotient(0x00000000U, 0x00000000U), canonical_nan_bits);
  EXPECT_EQ(quotient(0x7F800000U, 0xFF800000U), canonical_nan_bits);
}

TEST(StrictSilu, KnownWords) {
  expect_words(std::array<Case, 12>{{{0x3F800000U, 0x3F3B26A8U},
                                     {0xBF800000U, 0xBE89B2B1U},
                                     {0x40000000U, 0x3FE17BEAU},
                                     {0xC1200000U, 0xB9EE03FEU},
                                     {0x42200000U, 0x42200000U},
                                     {0xC2A00000U, 0x88EFE7E9U},
                                     {0x00000001U, 0x00000000U},
                                     {0xC2B00000U, 0x83354DDCU},
                                     {0x3E4CCCCDU, 0x3DE13646U},
                                     {0x80000000U, 0x80000000U},
                                     {0xC2C80000U, 0x80000000U},           // exp(100) overflows
                                     {0xFF800000U, canonical_nan_bits}}},  // -inf / inf
               [](float x) { return strict::silu(x); });
}

TEST(StrictMath, EveryNanIsCanonical) {
  for (const std::uint32_t word : {0x7F800001U, 0x7FC00001U, 0x7FFFFFFFU, 0xFF800001U, 0xFFC00000U, 0xFFFFFFFFU}) {
    const float nan = float_from_bits(word);
    EXPECT_EQ(float_bits(strict::exp(nan)), canonical_nan_bits);
    EXPECT_EQ(float_bits(strict::log(nan)), canonical_nan_bits);
    EXPECT_EQ(float_bits(strict::sqrt(nan)), canonical_nan_bits);
    EXPECT_EQ(float_bits(strict::rsqrt(nan)), canonical_nan_bits);
    EXPECT_EQ(float_bits(strict::silu(nan)), canonical_nan_bits);
    EXPECT_EQ(float_bits(strict::divide(nan, 1.0F)), canonical_nan_bits);
    EXPECT_EQ(float_bits(strict::divide(1.0F, nan)), canonical_nan_bits);
  }
  EXPECT_EQ(float_bits(strict::canonicalise_nan(quiet_nan)), canonical_nan_bits);
  EXPECT_EQ(float_bits(strict::canonicalise_nan(-0.0F)), 0x80000000U);
}

TEST(StrictMath, ExpAndLogAreConstantExpressions) {
  static_assert(float_bits(strict::exp(1.0F)) == 0x402DF854U);
  static_assert(float_bits(strict::log(10.0F)) == 0x40135D8EU);
  static_assert(float_bits(strict::silu(2.0F)) == 0x3FE17BEAU);
}

TEST(RoundToOdd, KeepsTheSideOfATie) {
  const double tie = 1.0 + 0x1p-24;  // half way between two binary32 numbers
  EXPECT_EQ(strict::round_to_odd({tie, 0.0}), tie);
  EXPECT_EQ(static_cast<float>(strict::round_to_odd({tie, 0x1p-90})), 1.0F + 0x1p-23F);
  EXPECT_EQ(static_cast<float>(strict::round_to_odd({tie, -0x1p-90})), 1.0F);
  EXPECT_EQ(static_cast<float>(strict::round_to_odd({-tie, -0x1p-90})), -1.0F - 0x1p-23F);
  EXPECT_EQ(static_cast<float>(strict::round_to_odd({-tie, 0x1p-90})), -1.0F);
  EXPECT_EQ(strict::round_to_odd({1.0, 0x1p-60}), 1.0 + 0x1p-52);
  EXPECT_EQ(strict::round_to_odd({1.0 + 0x1p-52, 0x1p-60}), 1.0 + 0x1p-52);
  EXPECT_EQ(strict::round_to_odd({0.0, 0.0}), 0.0);
  EXPECT_EQ(strict::round_to_odd({0.0, 0x1p-60}), 0x1p-60);
}

TEST(Horner, EvaluatesFromTheInside) {
  EXPECT_EQ(strict::horner(2.0, 5.0), 5.0);
  EXPECT_EQ(strict::horner(2.0, 1.0, 3.0, 5.0), 27.0);
}

TEST(LogDouble, IsWithinTwoUnitsOnTheNormalsArguments) {
  for (std::uint64_t i = 0; i < 200000; ++i) {
    const double x = (static_cast<double>(i * 21474U) + 0.5) * 0x1p-32;
    const long double expected = std::log(static_cast<long double>(x));
    ASSERT_LE(std::fabs(strict::log_double(x) - expected), -expected * 0x1p-51L) << x;
  }
}

TEST(SincosTurns, IsWithinTwoUnitsOfOne) {
  const long double two_pi = 8 * std::atan(1.0L);
  for (int i = 0; i <= 200000; ++i) {
    const double turns = i / 200000.0;
    const strict::SinCos ours = strict::sincos_turns(turns);
    ASSERT_LE(std::fabs(ours.cosine - std::cos(two_pi * turns)), 0x1p-52L) << turns;
    ASSERT_LE(std::fabs(ours.sine - std::sin(two_pi * turns)), 0x1p-52L) << turns;
  }
}

TEST(SincosTurns, QuartersAreExact) {
  const std::array<std::array<double, 2>, 5> expected = {{{1, 0}, {0, 1}, {-1, 0}, {0, -1}, {1, 0}}};
  for (std::size_t quarter = 0; quarter < expected.size(); ++quarter) {
    const strict::SinCos ours = strict::sincos_turns(0.25 * static_cast<double>(quarter));
    EXPECT_EQ(ours.cosine, expected[quarter][0]) << quarter;
    EXPECT_EQ(ours.sine, expected[quarter][1]) << quarter;
  }
}

}  // namespace
}  // namespace fp4proof
