// The bfloat16 product against sums worked out by hand and against the machine's fused multiply-add.

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <vector>

#include "formats/philox.h"
#include "reference/portable/gemm.h"

namespace fp4proof::portable {
namespace {

using Words = std::vector<std::uint16_t>;

/// Powers of two and their small multiples, exact in bfloat16.
std::uint16_t bf16(float value) {
  EXPECT_EQ(round_to_bf16(value), value);
  return float_to_bf16(value);
}

Words row(std::size_t k, const std::vector<std::pair<std::size_t, float>>& values) {
  Words words(k, 0);
  for (const auto& [at, value] : values) words[at] = bf16(value);
  return words;
}

std::uint32_t single(const Words& a, const Words& b) {
  return float_bits(gemm_bf16(a, b, 1, 1, static_cast<std::int64_t>(a.size()))->at(0));
}

TEST(GemmBf16, ChunksEndAfter512Elements) {
  const auto sum = [](std::size_t first, std::size_t second) {
    return single(row(600, {{0, 0x1p24F}, {first, 1}, {second, 1}}), Words(600, bf16(1)));
  };
  EXPECT_EQ(sum(512, 513), 0x4B800001U);
  EXPECT_EQ(sum(511, 512), 0x4B800000U);
  EXPECT_EQ(sum(510, 511), 0x4B800000U);
}

TEST(GemmBf16, RoundsOnceWhereProductsLeaveTheRange) {
  // 2^-149 + 2^-150 is a tie that goes up to the even 2 * 2^-149; 2^-150 on its own would have vanished.
  EXPECT_EQ(single(row(2, {{0, 0x1p-100F}, {1, 0x1p-100F}}), row(2, {{0, 0x1p-49F}, {1, 0x1p-50F}})), 2U);
  EXPECT_EQ(single(row(1, {{0, 0x1p-100F}}), row(1, {{0, 0x1p-50F}})), 0U);
  // In units of 2^-149: 8385 + 8320.5 is a tie that goes up to 16706; 8320.5 on its own goes down.
  EXPECT_EQ(single(row(2, {{0, 0x1.02p-100F}, {1, 0x1.02p-100F}}), row(2, {{0, 0x1.04p-36F}, {1, 0x1.02p-36F}})),
            16706U);
  // -1.5 * 2^127 + 2^128 is finite; 2^128 on its own is not.
  EXPECT_EQ(single(row(2, {{0, -0x1.8p127F}, {1, 0x1p127F}}), row(2, {{0, 1}, {1, 2}})), float_bits(0x1p126F));
  EXPECT_EQ(single(row(1, {{0, 0x1p127F}}), row(1, {{0, 2}})), float_infinity_bits);
}

TEST(GemmBf16, SpecialValues) {
  const std::uint16_t inf = 0x7F80;
  const std::uint16_t nan = 0xFFC1;
  EXPECT_EQ(single({inf}, {bf16(-2)}), 0xFF800000U);
  EXPECT_EQ(single({inf}, {0}), canonical_nan_bits);
  EXPECT_EQ(single({inf, inf}, {bf16(1), bf16(-1)}), canonical_nan_bits);
  EXPECT_EQ(single({nan, 0}, {0, 0}), canonical_nan_bits);
}

TEST(GemmBf16, EmptyExtents) {
  const auto zeros = gemm_bf16({}, {}, 2, 3, 0);
  ASSERT_EQ(zeros->size(), 6U);
  for (const float value : *zeros) EXPECT_EQ(float_bits(value), 0U);
  EXPECT_TRUE(gemm_bf16({}, Words(6, 0), 0, 2, 3)->empty());
}

TEST(GemmBf16, RefusesSpansOfAnotherLength) {
  const auto c = gemm_bf16(Words(6, 0), Words(5, 0), 2, 2, 3);
  ASSERT_FALSE(c.ok());
  EXPECT_EQ(c.error().kind, ErrorKind::usage);
  EXPECT_EQ(c.error().message, "gemm_bf16: operand B of shape [2, 3] does not fit its span of 5 words");
}

TEST(GemmBf16, RefusesMatricesBeyondMemory) {
  constexpr std::int64_t huge = std::int64_t{1} << 33;
  const auto c = gemm_bf16({}, {}, huge, huge, 0);
  ASSERT_FALSE(c.ok());
  EXPECT_EQ(c.error().kind, ErrorKind::unsupported);
}

/// Finite words: of all magnitudes, or near 1.
Words random_words(std::size_t count, std::uint32_t step, bool near_one) {
  Words words;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t random = random_word(5, Stream::cases, step, i);
    const std::uint32_t field = near_one ? 120 + (random >> 16) % 12 : (random >> 16) % 255;
    words.push_back(static_cast<std::uint16_t>((random & 0x807FU) | (field << 7)));
  }
  return words;
}

TEST(GemmBf16, IsAChainOfFusedMultiplyAddsForAnyNumberOfThreads) {
  constexpr std::int64_t m = 17;
  constexpr std::int64_t n = 35;
  constexpr std::int64_t k = 1100;
  const int threads_before = omp_get_max_threads();
  for (const bool near_one : {true, false}) {
    const Words a = random_words(m * k, 0, near_one);
    const Words b = random_words(n * k, 1, near_one);
    for (const int threads : {1, 2, 7}) {
      omp_set_num_threads(threads);
      const std::vector<float> c = *gemm_bf16(a, b, m, n, k);
      for (std::int64_t i = 0; i < m * n; ++i) {
        float total = 0.0F;
        for (std::int64_t first = 0; first < k; first += 512) {
          float sum = 0.0F;
          for (std::int64_t l = first; l < std::min<std::int64_t>(first + 512, k); ++l)
            sum = std::fma(bf16_to_float(a[static_cast<std::size_t>(i / n * k + l)]),
                           bf16_to_float(b[static_cast<std::size_t>(i % n * k + l)]), sum);
          total = first == 0 ? sum : total + sum;
        }
        const float result = c[static_cast<std::size_t>(i)];
        ASSERT_EQ(float_bits(result), std::isnan(total) ? canonical_nan_bits : float_bits(total)) << i;
      }
    }
  }
  omp_set_num_threads(threads_before);
}

}  // namespace
}  // namespace fp4proof::portable
