// Rule C10b: how far the transform is from the exact orthogonal one, in exact arithmetic: its inverse, the product of
// two transformed rows, and no error at all on small integers.

#include <gtest/gtest.h>

#include <bit>
#include <vector>

#include "formats/float_bits.h"
#include "formats/philox.h"
#include "reference/exact/float_word.h"
#include "reference/portable/hadamard.h"

namespace fp4proof {
namespace {

using exact::Rational;
using Words = std::vector<std::uint32_t>;

constexpr std::int64_t columns = 128;

HadamardSpec spec_of(std::uint8_t size, HadamardSigns signs = HadamardSigns::fixed) { return {size, signs, 2026}; }

Words forward(const HadamardSpec& spec, Words words, std::uint32_t product = 0) {
  const auto count = static_cast<std::int64_t>(words.size());
  portable::HadamardTransform(spec, product, count).forward(0, count, words.data());
  return words;
}

Words inverse(const HadamardSpec& spec, Words words, std::uint32_t product = 0) {
  const auto count = static_cast<std::int64_t>(words.size());
  portable::HadamardTransform(spec, product, count).inverse(0, count, words.data());
  return words;
}

/// Rows of binary32 numbers whose exponents spread over `spread` binades below `top`.
Words random_row(std::uint64_t number, std::uint32_t top, std::uint64_t spread) {
  Words words;
  for (std::uint64_t i = 0; i < columns; ++i) {
    const std::uint32_t a = random_word(60, Stream::cases, 0, number * columns + i);
    const std::uint32_t b = random_word(60, Stream::cases, 1, number * columns + i);
    words.push_back((a & 0x807FFFFFU) | ((top - static_cast<std::uint32_t>(b % spread)) << 23));
  }
  return words;
}

/// <a, b> over the columns [first, first + count), exact.
Rational dot(const Words& a, const Words& b, std::size_t first, std::size_t count) {
  Rational sum;
  for (std::size_t i = first; i < first + count; ++i) sum = sum + exact::float_value(a[i]) * exact::float_value(b[i]);
  return sum;
}

/// gamma of C10b: (1 + 2^-24)^log2 g - 1.
Rational gamma_of(std::uint8_t size) {
  const Rational factor = Rational(1) + Rational::power_of_two(-24);
  Rational power(1);
  for (int stage = 0; stage < std::countr_zero(size); ++stage) power = power * factor;
  return power - Rational(1);
}

/// |a - b|^2 over one group.
Rational squared_distance(const Words& a, const Words& b, std::size_t first, std::size_t count) {
  Rational sum;
  for (std::size_t i = first; i < first + count; ++i) {
    const Rational d = exact::float_value(a[i]) - exact::float_value(b[i]);
    sum = sum + d * d;
  }
  return sum;
}

class HadamardBound : public testing::TestWithParam<std::uint8_t> {};

TEST_P(HadamardBound, InverseReturnsWithinTheBound) {
  const std::size_t g = GetParam();
  const Rational gamma = gamma_of(GetParam());
  const Rational bound = (Rational(2) + gamma) * gamma;  // both ways: (1 + gamma)^2 - 1
  Rational worst;
  int inexact = 0;
  for (std::uint64_t number = 0; number < 300; ++number) {
    const Words x = random_row(number, 130, 1 + number % 30);
    const Words back = inverse(spec_of(GetParam()), forward(spec_of(GetParam()), x));
    for (std::size_t first = 0; first < columns; first += g) {
      const Rational distance = squared_distance(back, x, first, g);
      const Rational norm = dot(x, x, first, g);
      EXPECT_LE(distance, bound * bound * norm) << "row " << number;
      worst = std::max(worst, distance / (bound * bound * norm));
      inexact += distance.is_zero() ? 0 : 1;
    }
  }
  // The bound says something: errors occur, and the worst is not far below it (its square: above 1/100).
  EXPECT_GT(inexact, 100);
  EXPECT_GT(worst, Rational(1) / Rational(100));
}

TEST_P(HadamardBound, UnderflowAddsHalfAQuantumAnElement) {
  // Near 2^-149 the last factor may round: at most 2^-150 an element each way, sqrt(g) 2^-150 in norm.
  const std::size_t g = GetParam();
  const Rational gamma = gamma_of(GetParam());
  const Rational tiny = Rational(std::int64_t{g == 16 ? 4 : 8}) * Rational::power_of_two(-150);
  int inexact = 0;
  for (std::uint64_t number = 0; number < 100; ++number) {
    Words x = random_row(number, 4, 4);
    for (std::uint32_t& word : x) word = (word & float_sign_mask) | ((word & 0x00FFFFFFU) >> (number % 20));
    const Words back = inverse(spec_of(GetParam()), forward(spec_of(GetParam()), x));
    for (std::size_t first = 0; first < columns; first += g) {
      // (a n + b)^2 with the norm n irrational: |x^ - x| <= a n + b, checked as d^2 <= 2 a^2 n^2 + 2 b^2.
      const Rational a = (Rational(2) + gamma) * gamma;
      const Rational b = (Rational(2) + gamma) * tiny;
      const Rational distance = squared_distance(back, x, first, g);
      EXPECT_LE(distance, (a * a * dot(x, x, first, g) + b * b).scaled(1)) << "row " << number;
      inexact += distance.is_zero() ? 0 : 1;
    }
  }
  EXPECT_GT(inexact, 0);
}

TEST_P(HadamardBound, ProductOfTransformedRowsWithinTheBound) {
  const std::size_t g = GetParam();
  const Rational gamma = gamma_of(GetParam());
  const Rational bound = (Rational(2) + gamma) * gamma;
  int inexact = 0;
  for (std::uint64_t number = 0; number < 300; ++number) {
    const HadamardSpec spec = spec_of(GetParam(), number % 2 == 0 ? HadamardSigns::fixed : HadamardSigns::fresh);
    const auto product = static_cast<std::uint32_t>(number);
    const Words a = random_row(2 * number, 130, 1 + number % 20);
    const Words b = random_row(2 * number + 1, 125, 1 + number % 7);
    const Words ra = forward(spec, a, product);
    const Words rb = forward(spec, b, product);
    for (std::size_t first = 0; first < columns; first += g) {
      const Rational error = dot(ra, rb, first, g) - dot(a, b, first, g);
      EXPECT_LE(error * error, bound * bound * dot(a, a, first, g) * dot(b, b, first, g)) << "row " << number;
      inexact += error.is_zero() ? 0 : 1;
    }
  }
  EXPECT_GT(inexact, 100);
}

TEST_P(HadamardBound, OtherSignsOnTheTwoSidesDoNotCancel) {
  const std::size_t g = GetParam();
  const HadamardSpec fresh = spec_of(GetParam(), HadamardSigns::fresh);
  const Words a = random_row(1, 130, 1);
  const Rational error = dot(forward(fresh, a, 1), forward(fresh, a, 2), 0, g) - dot(a, a, 0, g);
  EXPECT_GT(error * error, (dot(a, a, 0, g) * dot(a, a, 0, g)).scaled(-8));
}

Words small_integers(std::uint64_t number) {
  Words words;
  for (std::uint64_t i = 0; i < columns; ++i) {
    const std::uint32_t draw = random_word(61, Stream::cases, 0, number * columns + i) % 511;
    words.push_back(float_bits(static_cast<float>(draw) - 255.0F));
  }
  return words;
}

TEST_P(HadamardBound, ExactOnSmallIntegers) {
  const std::size_t g = GetParam();
  const HadamardSpec spec = spec_of(GetParam());
  const Rational root(std::int64_t{g == 16 ? 4 : 8});
  for (std::uint64_t number = 0; number < 50; ++number) {
    const Words x = small_integers(number);
    const Words transformed = forward(spec, x);
    // Against the matrix itself: entry (i, j) is (-1)^popcount(i & j), the sign of column j from its Philox word.
    for (std::size_t i = 0; i < columns; ++i) {
      const std::size_t first = i / g * g;
      Rational sum;
      for (std::size_t j = 0; j < g; ++j) {
        const bool column_negative = random_word(2026, Stream::hadamard, 0, first + j) >> 31 != 0;
        const bool negative = (std::popcount((i - first) & j) % 2 == 1) != column_negative;
        const Rational value = exact::float_value(x[first + j]);
        sum = negative ? sum - value : sum + value;
      }
      EXPECT_EQ(exact::float_value(transformed[i]) * root, sum);
    }
    // Numbers come back; the sign of a zero need not.
    EXPECT_TRUE(squared_distance(inverse(spec, transformed), x, 0, columns).is_zero());
    const Words y = small_integers(1000 + number);
    EXPECT_EQ(dot(transformed, forward(spec, y), 0, columns), dot(x, y, 0, columns));
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, HadamardBound, testing::Values(std::uint8_t{16}, std::uint8_t{64}));

}  // namespace
}  // namespace fp4proof
