// Rule C31: stochastic rounding is unbiased where nothing clips. The expectation of every element is taken exactly,
// over all random values of the decision: by trying all of 8 and 16 bits, by finding the value where the decision turns
// for 32.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/block_codec.h"
#include "formats/philox.h"
#include "formats/spec_profiles.h"
#include "formats/three_quarters.h"
#include "reference/exact/element.h"
#include "reference/exact/float_word.h"
#include "reference/exact/scale.h"
#include "reference/portable/correct.h"

namespace fp4proof {
namespace {

using exact::Rational;

constexpr std::size_t size = 32;
using Block = std::vector<std::uint32_t>;

enum class Method { plain, three_quarters };

Profile stochastic(const char* name, int bits) {
  Profile profile = *find_profile(name);
  profile.rounding = Rounding::stochastic;
  profile.random_bits = static_cast<std::uint8_t>(bits);
  return profile;
}

struct Coded {
  std::uint32_t scale = 0;
  std::vector<std::uint8_t> codes = std::vector<std::uint8_t>(size);
};

/// The block coded with the same random value in every element.
Coded coded_with(Method method, const Profile& profile, const Block& block, std::uint32_t value) {
  const std::vector<std::uint32_t> random(size, value << (32 - profile.random_bits));
  Coded coded;
  const BlockEncoding io{block.data(), random.data(), 1.0F, &coded.scale, coded.codes.data()};
  const BlockStatus status = method == Method::plain ? encode_block(profile, io) : three_quarters_block(profile, io);
  EXPECT_EQ(status, BlockStatus::ok);
  return coded;
}

int magnitude_code(const Coded& coded, std::size_t i) { return coded.codes[i] & 7; }

/// The expectation of every element's |Q(x)|: the mean of its coded magnitudes over all random values, times the scale,
/// and over 3/4 where the method says so.
std::vector<Rational> expectations(Method method, const Profile& profile, const Block& block) {
  const int bits = profile.random_bits;
  const std::uint64_t count = std::uint64_t{1} << bits;
  const std::vector<Rational>& levels = exact::magnitudes(profile.element);
  const Coded lowest = coded_with(method, profile, block, 0);
  const Rational scale = exact::e8m0_value(static_cast<std::uint8_t>(lowest.scale));
  std::vector<Rational> result;
  if (bits <= 16) {
    std::vector<Rational> sums(size);
    for (std::uint64_t u = 0; u < count; ++u) {
      const Coded coded = coded_with(method, profile, block, static_cast<std::uint32_t>(u));
      for (std::size_t i = 0; i < size; ++i)
        sums[i] = sums[i] + levels[static_cast<std::size_t>(magnitude_code(coded, i))];
    }
    for (const Rational& sum : sums) result.push_back(sum.scaled(-bits) * scale);
  } else {
    for (std::size_t i = 0; i < size; ++i) {
      const int low = magnitude_code(lowest, i);
      std::uint64_t first = 1;  // the first value that goes up; `count` if none does
      std::uint64_t last = count;
      while (first < last) {
        const std::uint64_t middle = first + (last - first) / 2;
        if (magnitude_code(coded_with(method, profile, block, static_cast<std::uint32_t>(middle)), i) > low)
          last = middle;
        else
          first = middle + 1;
      }
      const Rational below = levels[static_cast<std::size_t>(low)];
      const Rational above = levels[static_cast<std::size_t>(std::min(low + 1, 7))];
      const Rational going_up = Rational(exact::Integer(count - first), exact::Integer(1), -bits);
      result.push_back((below + (above - below) * going_up) * scale);
    }
  }
  if (method == Method::three_quarters)
    for (Rational& value : result) value = value.scaled(2) / Rational(3);
  return result;
}

/// bfloat16 numbers within 2^-depth of the largest, with zeros.
Block bf16_block(std::uint64_t number, std::uint32_t depth) {
  Block block;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint32_t draw = random_word(31, Stream::cases, 0, number * size + i);
    const std::uint32_t field = 120 - (i == number % size ? 0 : draw % depth);
    block.push_back(i % 11 == 10 ? draw & 0x80000000U : (draw & 0x807F0000U) | (field << 23));
  }
  return block;
}

/// The block as 32 bits need it: nothing is so small that its fraction of a step has more than 32 bits.
constexpr std::uint32_t moderate_depth = 16;
constexpr std::uint32_t wide_depth = 40;

struct Bias {
  int exact = 0;
  int truncated = 0;  ///< less than one step of the decision below x
  int other = 0;
};

Bias bias_of(Method method, const Profile& profile, const Block& block) {
  const std::vector<Rational> means = expectations(method, profile, block);
  const Coded coded = coded_with(method, profile, block, 0);
  // The widest step of E2M1 is 2, and 8/3 after the division by 3/4.
  const Rational scale = exact::e8m0_value(static_cast<std::uint8_t>(coded.scale));
  const Rational widest = method == Method::plain ? Rational(2) : Rational(8) / Rational(3);
  const Rational step = (widest * scale).scaled(-profile.random_bits);
  Bias bias;
  for (std::size_t i = 0; i < size; ++i) {
    const Rational missing = exact::float_value(block[i] & 0x7FFFFFFFU) - means[i];
    if (missing.is_zero())
      ++bias.exact;
    else if (missing.sign() > 0 && missing < step)
      ++bias.truncated;
    else
      ++bias.other;
  }
  return bias;
}

Bias total_bias(Method method, const Profile& profile, std::uint64_t blocks, std::uint32_t depth) {
  Bias total;
  for (std::uint64_t number = 0; number < blocks; ++number) {
    const Bias bias = bias_of(method, profile, bf16_block(number, depth));
    total.exact += bias.exact;
    total.truncated += bias.truncated;
    total.other += bias.other;
  }
  return total;
}

TEST(UnbiasedRounding, ExpectationIsTheInputUnderRceil) {
  const Bias bias = total_bias(Method::plain, stochastic("mxfp4/rceil", 32), 100, moderate_depth);
  EXPECT_EQ(bias.exact, 3200);
}

TEST(UnbiasedRounding, ExpectationIsTheInputUnderThreeQuartersOverFloor) {
  const Bias bias = total_bias(Method::three_quarters, stochastic("mxfp4/ocp", 32), 100, moderate_depth);
  EXPECT_EQ(bias.exact, 3200);
}

TEST(UnbiasedRounding, FewerBitsTruncateLessThanOneOfTheirSteps) {
  for (const auto& [method, name] : {std::pair{Method::plain, "mxfp4/rceil"}, {Method::three_quarters, "mxfp4/ocp"}}) {
    for (const int bits : {8, 16, 32}) {
      const std::uint64_t blocks = bits == 16 ? 2 : 60;
      const Bias bias = total_bias(method, stochastic(name, bits), blocks, wide_depth);
      EXPECT_EQ(bias.other, 0) << name << " " << bits;
      EXPECT_GT(bias.exact, 0) << name << " " << bits;
      EXPECT_GT(bias.truncated, 0) << name << " " << bits;
    }
  }
}

TEST(UnbiasedRounding, PlainFloorIsBiasedExactlyByWhatItClips) {
  // 7 has the floor scale 1, and 6 is the largest code: the mean is 6 whatever the bits.
  Block seven(size);
  seven[0] = 0x40E00000U;
  for (const int bits : {8, 32}) {
    EXPECT_EQ(expectations(Method::plain, stochastic("mxfp4/ocp", bits), seven)[0], Rational(6));
    EXPECT_EQ(expectations(Method::plain, stochastic("mxfp4/rceil", bits), seven)[0], Rational(7));
    EXPECT_EQ(expectations(Method::three_quarters, stochastic("mxfp4/ocp", bits), seven)[0], Rational(7));
  }
  // And in general: elements above 6 scales lose what exceeds it, all others nothing.
  const Profile profile = stochastic("mxfp4/ocp", 32);
  int clipped = 0;
  for (std::uint64_t number = 0; number < 100; ++number) {
    const Block block = bf16_block(number, moderate_depth);
    const std::vector<Rational> means = expectations(Method::plain, profile, block);
    const Rational scale =
        exact::e8m0_value(static_cast<std::uint8_t>(coded_with(Method::plain, profile, block, 0).scale));
    for (std::size_t i = 0; i < size; ++i) {
      const Rational x = exact::float_value(block[i] & 0x7FFFFFFFU);
      EXPECT_EQ(means[i], std::min(x, Rational(6) * scale));
      clipped += x > Rational(6) * scale ? 1 : 0;
    }
  }
  EXPECT_GT(clipped, 30);
}

TEST(UnbiasedRounding, TheTensorRoadTakesTheSameDecisions) {
  // correct() draws its random words by the element's place; with them each code is the oracle's decision on the exact
  // 3/4 |x| / 2^e.
  const Profile& profile = *find_profile("mxfp4/ocp");
  constexpr std::int64_t rows = 400;
  Block words;
  for (std::uint64_t number = 0; number < rows; ++number)
    for (const std::uint32_t word : bf16_block(number, moderate_depth)) words.push_back(word);
  const std::vector<std::int64_t> shape = {rows, size};
  const portable::TensorView view{portable::DType::f32, shape, reinterpret_cast<const std::byte*>(words.data())};
  const portable::CorrectOptions options{.quantize = {.seed = 17, .step = 2}};
  const auto corrected = portable::correct(profile, *find_correction_stack("three-quarters"), view, options);
  ASSERT_TRUE(corrected.ok()) << corrected.error().message;
  int up = 0;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Rational scale = exact::e8m0_value(corrected->first.quantized.scales[i / size]);
    const Rational y = exact::float_value(words[i] & 0x7FFFFFFFU) * Rational(3).scaled(-2) / scale;
    const std::uint32_t word = random_word(17, Stream::sr_activation, 2, i);
    const std::uint8_t expected =
        exact::encode_magnitude(Element::e2m1, Rounding::stochastic, y, exact::random_bits_of_word(word, 32));
    const std::uint8_t byte = corrected->first.quantized.codes[i / 2];
    ASSERT_EQ((i % 2 == 0 ? byte : byte >> 4) & 7, expected) << "element " << i;
    up += expected != exact::neighbours(Element::e2m1, y).low ? 1 : 0;
  }
  EXPECT_GT(up, 1000);
}

}  // namespace
}  // namespace fp4proof
