// Philox words, their addressing, uniforms and normals. Expected words come from Random123's known-answer file and
// from an independent evaluation of the formulas in 70-digit decimal arithmetic.

#include "formats/philox.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <set>

namespace fp4proof {
namespace {

constexpr std::uint64_t seed = 0x0123456789ABCDEFU;

void expect_block(const PhiloxBlock& block, const std::array<std::uint32_t, 4>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(block.word[i], expected[i]) << "word " << i;
}

TEST(Philox, Random123KnownAnswers) {
  expect_block(philox_block({{0, 0, 0, 0}}, {{0, 0}}), {0x6627E8D5U, 0xE169C58DU, 0xBC57AC4CU, 0x9B00DBD8U});
  constexpr std::uint32_t ones = 0xFFFFFFFFU;
  expect_block(philox_block({{ones, ones, ones, ones}}, {{ones, ones}}),
               {0x408F276DU, 0x41C83B0EU, 0xA20BC7C6U, 0x6D5451FDU});
  expect_block(philox_block({{0x243F6A88U, 0x85A308D3U, 0x13198A2EU, 0x03707344U}}, {{0xA4093822U, 0x299F31D0U}}),
               {0xD16CFE09U, 0x94FDCCEBU, 0x5001E420U, 0x24126EA1U});
}

TEST(Philox, IsAConstantExpression) {
  static_assert(philox_block({{0, 0, 0, 0}}, {{0, 0}}).word[0] == 0x6627E8D5U);
  static_assert(random_word(0, Stream::init, 0, 3) == 0x9B00DBD8U);
}

TEST(Philox, CounterAndKeyFollowTheRule) {
  const PhiloxCounter counter = philox_counter(Stream::aqn, 77, (std::uint64_t{5} << 34) + 6);
  EXPECT_EQ(counter.word[0], 1U);
  EXPECT_EQ(counter.word[1], 5U);
  EXPECT_EQ(counter.word[2], 77U);
  EXPECT_EQ(counter.word[3], 8U);
  const PhiloxKey key = philox_key(seed);
  EXPECT_EQ(key.word[0], 0x89ABCDEFU);
  EXPECT_EQ(key.word[1], 0x01234567U);
}

TEST(Philox, StreamNumbersArePublished) {
  const std::array streams = {Stream::init,   Stream::sft_prompt,    Stream::sft_noise, Stream::rl_prompt,
                              Stream::sample, Stream::sr_activation, Stream::sr_weight, Stream::sr_gradient,
                              Stream::aqn,    Stream::eval,          Stream::cases,     Stream::hadamard};
  ASSERT_EQ(streams.size(), stream_count);
  for (std::uint32_t i = 0; i < stream_count; ++i) EXPECT_EQ(static_cast<std::uint32_t>(streams[i]), i);
}

struct AddressedCase {
  std::uint64_t element;
  std::uint32_t word;
  std::uint32_t normal_bits;
};

// seed 0x0123456789ABCDEF, stream eval, step 7
constexpr std::array<AddressedCase, 8> addressed_cases = {{{0, 0x33F74EC0U, 0x3FCED63DU},
                                                           {1, 0xEE1528E4U, 0xBF42A08EU},
                                                           {2, 0xEFA37D18U, 0x3D340B22U},
                                                           {3, 0x3B0F6BE2U, 0x3EB8B781U},
                                                           {4, 0x401A35F8U, 0xBFC53249U},
                                                           {5, 0x703378E8U, 0x3F21165AU},
                                                           {0x400000003U, 0xA91AC8B6U, 0xBF217CC3U},
                                                           {0x1400000002U, 0x4F10EE36U, 0xBE5C6275U}}};

TEST(Philox, ElementsOfAStreamHaveKnownWords) {
  for (const AddressedCase& c : addressed_cases) {
    EXPECT_EQ(random_word(seed, Stream::eval, 7, c.element), c.word) << "element " << c.element;
  }
}

TEST(Philox, SeedStreamStepAndElementAllMatter) {
  std::set<std::uint32_t> words;
  for (const std::uint64_t bit : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32, std::uint64_t{1} << 63}) {
    words.insert(random_word(seed ^ bit, Stream::init, 0, 0));
    words.insert(random_word(seed, Stream::init, 0, bit));
  }
  for (const Stream stream : {Stream::sft_prompt, Stream::cases}) words.insert(random_word(seed, stream, 0, 0));
  for (const std::uint32_t step : {1U, 0xFFFFFFFFU}) words.insert(random_word(seed, Stream::init, step, 0));
  EXPECT_EQ(words.size(), 11U);  // 8 - 1 shared by both lists, + 2 + 2
}

TEST(Uniform, UsesTheUpper24Bits) {
  EXPECT_EQ(uniform_from_word(0), 0.0F);
  EXPECT_EQ(uniform_from_word(0xFF), 0.0F);
  EXPECT_EQ(uniform_from_word(0x100), 0x1p-24F);
  EXPECT_EQ(uniform_from_word(0x80000000U), 0.5F);
  EXPECT_EQ(uniform_from_word(0xFFFFFFFFU), 0x0.ffffffp0F);
  EXPECT_EQ(random_uniform(seed, Stream::eval, 7, 0), static_cast<float>(0x33F74E) * 0x1p-24F);
}

struct NormalCase {
  std::uint32_t radius_word;
  std::uint32_t angle_word;
  std::uint32_t cosine_bits;
  std::uint32_t sine_bits;
};

constexpr std::array<NormalCase, 8> normal_cases = {{{0x00000000U, 0x00000000U, 0x40D87047U, 0x31A9FD8FU},
                                                     {0xFFFFFFFFU, 0x00000000U, 0x37800000U, 0x28490FDBU},
                                                     {0x00000000U, 0xFFFFFFFFU, 0x40D87047U, 0xB1A9FD8FU},
                                                     {0x80000000U, 0x20000000U, 0x3F55224DU, 0x3F55224DU},
                                                     {0x12345678U, 0x9ABCDEF0U, 0xBFE92F38U, 0xBFB39381U},
                                                     {0xDEADBEEFU, 0x40000000U, 0xAFD45D1BU, 0x3F0731E7U},
                                                     {0x00000001U, 0x7FFFFFFFU, 0xC0D32D4CU, 0x31A5DBA5U},
                                                     {0xFFFFFFFEU, 0xC0000000U, 0x28AE1FEFU, 0xB7DDB3D7U}}};

TEST(Normal, KnownPairs) {
  for (const NormalCase& c : normal_cases) {
    const NormalPair pair = normals_from_words(c.radius_word, c.angle_word);
    EXPECT_EQ(float_bits(pair.cosine), c.cosine_bits) << std::hex << c.radius_word << ' ' << c.angle_word;
    EXPECT_EQ(float_bits(pair.sine), c.sine_bits) << std::hex << c.radius_word << ' ' << c.angle_word;
  }
}

TEST(Normal, ElementsOfAStreamHaveKnownNormals) {
  for (const AddressedCase& c : addressed_cases) {
    EXPECT_EQ(float_bits(random_normal(seed, Stream::eval, 7, c.element)), c.normal_bits) << "element " << c.element;
  }
}

// Half a unit of binary32 plus a few units of binary64: the value before the one rounding to binary32 is that good.
TEST(Normal, IsTheFormulaRoundedOnce) {
  const long double two_pi = 8 * std::atan(1.0L);
  for (std::uint64_t pair = 0; pair < 100000; ++pair) {
    const std::uint32_t radius_word = random_word(1, Stream::cases, 0, 2 * pair);
    const std::uint32_t angle_word = random_word(1, Stream::cases, 0, 2 * pair + 1);
    const long double radius = std::sqrt(-2 * std::log((radius_word + 0.5L) * 0x1p-32L));
    const long double angle = two_pi * (angle_word + 0.5L) * 0x1p-32L;
    const std::array<long double, 2> expected = {radius * std::cos(angle), radius * std::sin(angle)};
    for (std::uint64_t odd = 0; odd < 2; ++odd) {
      const float normal = random_normal(1, Stream::cases, 0, 2 * pair + odd);
      const long double half_unit = std::ldexp(0.5L, floor_log2_bits(float_bits(std::fabs(normal))) - 23);
      const long double slack = std::fabs(expected[odd]) * 0x1p-50L;
      ASSERT_LE(std::fabs(normal - expected[odd]), half_unit + slack) << "element " << 2 * pair + odd;
    }
  }
}

// Bounds of five standard errors: sqrt(1/n), sqrt(2/n), sqrt(1/n) for mean, variance, covariance.
TEST(Normal, HasMeanZeroVarianceOneAndUncorrelatedPairs) {
  constexpr int pairs = 500000;
  double sum = 0;
  double squares = 0;
  double products = 0;
  for (std::uint64_t pair = 0; pair < pairs; ++pair) {
    const double even = random_normal(2, Stream::cases, 0, 2 * pair);
    const double odd = random_normal(2, Stream::cases, 0, 2 * pair + 1);
    sum += even + odd;
    squares += even * even + odd * odd;
    products += even * odd;
  }
  constexpr double count = 2.0 * pairs;
  EXPECT_LT(std::fabs(sum / count), 5 * std::sqrt(1 / count));
  EXPECT_LT(std::fabs(squares / count - 1), 5 * std::sqrt(2 / count));
  EXPECT_LT(std::fabs(products / pairs), 5 * std::sqrt(1.0 / pairs));
}

}  // namespace
}  // namespace fp4proof
