// Adaptive quantization noise: rules C50 and C51. The sigmas were worked in 200-digit decimal arithmetic.

#include <gtest/gtest.h>

#include <limits>

#include "formats/philox.h"
#include "reference/portable/noise.h"
#include "reference/portable/noise_power.h"

namespace fp4proof::portable {
namespace {

/// sigma of every interval, first step of each.
std::vector<std::uint32_t> sigmas(const NoiseSchedule& schedule) {
  std::vector<std::uint32_t> words;
  for (std::uint64_t j = 0; j < schedule.intervals; ++j) {
    const std::uint64_t step = (j * schedule.steps + schedule.intervals - 1) / schedule.intervals;
    words.push_back(float_bits(noise_sigma(schedule, static_cast<std::uint32_t>(step))));
  }
  return words;
}

using Words = std::vector<std::uint32_t>;

TEST(Noise, TheScheduleOfTenIntervals) {
  EXPECT_EQ(sigmas({.steps = 100}), (Words{0, 0x3c23d70a, 0x3bf5b9af, 0x3bb8449c, 0x3b8a2e77, 0x3b4f3e37, 0x3b1b690d,
                                           0x3ae91528, 0x3aaec98e, 0x3a83126f}));
  EXPECT_EQ(sigmas({.sigma_end = 0.0001F, .steps = 1007}),
            (Words{0, 0x3c23d70a, 0x3bb8449c, 0x3b4f3e37, 0x3ae91527, 0x3a83126e, 0x3a136a16, 0x39a5cb5f, 0x393a7753,
                   0x38d1b717}));
  EXPECT_EQ(sigmas({.first_silent = false, .steps = 10}),
            (Words{0x3c23d70a, 0x3bfdb5f2, 0x3bc47062, 0x3b981878, 0x3b6b8630, 0x3b365b9a, 0x3b0d316b, 0x3adaa42b,
                   0x3aa94938, 0x3a83126f}));
}

TEST(Noise, ExactValuesAndTheEndsOfBinary32) {
  EXPECT_EQ(sigmas({4.0F, 1.0F, 3, false, 3}), (Words{0x40800000, 0x40000000, 0x3f800000}));
  EXPECT_EQ(sigmas({1.0F, 2.0F, 3, false, 3}), (Words{0x3f800000, 0x3fb504f3, 0x40000000}));  // sqrt 2
  EXPECT_EQ(sigmas({1.0F, 16777216.0F, 4, false, 4}), (Words{0x3f800000, 0x43800000, 0x47800000, 0x4b800000}));
  EXPECT_EQ(sigmas({float_from_bits(1), float_from_bits(0x7F7FFFFFU), 8, false, 8}),
            (Words{0x1, 0x8be350f, 0x1c8d52ce, 0x3052017f, 0x441c08a3, 0x57e7dd81, 0x6bac4675, 0x7f7fffff}));
  Words halves;  // 2^-126 halved down to 2^-149
  for (int k = 0; k <= 23; ++k) halves.push_back(0x800000U >> k);
  EXPECT_EQ(sigmas({float_from_bits(0x800000), float_from_bits(1), 24, false, 24}), halves);
  EXPECT_EQ(sigmas({0.05F, float_from_bits(0x3d4ccccf), 6, false, 6}),
            (Words{0x3d4ccccd, 0x3d4ccccd, 0x3d4cccce, 0x3d4cccce, 0x3d4ccccf, 0x3d4ccccf}));
  EXPECT_EQ(sigmas({0.3F, 0.3F, 5, true, 5}), (Words{0, 0x3e99999a, 0x3e99999a, 0x3e99999a, 0x3e99999a}));
}

TEST(Noise, ManyIntervals) {
  const NoiseSchedule schedule{1e-3F, 1e-2F, 1000004, false, 1000004};
  EXPECT_EQ(float_bits(noise_sigma(schedule, 1)), 0x3a831283U);
  EXPECT_EQ(float_bits(noise_sigma(schedule, 500000)), 0x3b4f3e08U);
  EXPECT_EQ(float_bits(noise_sigma(schedule, 1000002)), 0x3c23d6f1U);
  const NoiseSchedule longest{1e-3F, 1e-2F, 0xFFFFFFFFU, true, 0xFFFFFFFFU};
  EXPECT_EQ(noise_sigma(longest, 0), 0.0F);
  EXPECT_EQ(noise_sigma(longest, 1), 1e-3F);
  EXPECT_EQ(noise_sigma(longest, 0xFFFFFFFEU), 1e-2F);
}

TEST(Noise, EveryStepLiesInItsInterval) {
  const NoiseSchedule schedule{.intervals = 3, .steps = 7};  // floor(3 t / 7): 0 0 0 1 1 2 2
  const float expected[] = {0.0F, 0.0F, 0.0F, 0.01F, 0.01F, 0.001F, 0.001F};
  for (std::uint32_t t = 0; t < 7; ++t) EXPECT_EQ(noise_sigma(schedule, t), expected[t]) << t;
}

TEST(Noise, PowersAreComparedExactly) {
  // 2^(1/2) against 1.5, cubes and a hair beside them.
  const GeometricMean root{{1, 0}, {2, 0}, 1, 2};
  EXPECT_LT(compare_with(root, {3, -1}), 0);
  EXPECT_GT(compare_with(root, {11, -3}), 0);
  const GeometricMean cube{{125, 0}, {27, 0}, 1, 3};  // 5 * (3/5) = 3... 125^(2/3) * 27^(1/3) = 25 * 3
  EXPECT_EQ(compare_with(cube, {75, 0}), 0);
  EXPECT_EQ(compare_with(cube, {150, -1}), 0);
  EXPECT_GT(compare_with(cube, {(75U << 24) - 1, -24}), 0);
  EXPECT_LT(compare_with(cube, {(75U << 24) + 1, -24}), 0);
  // 2^(k/277) from 2^-149 to 2^128 is exact at every k.
  const GeometricMean widest{{1, -149}, {1, 128}, 100, 277};
  EXPECT_EQ(compare_with(widest, {1, -49}), 0);
  EXPECT_GT(compare_with(widest, {0xFFFFFFFFU, -49 - 32}), 0);
}

TEST(Noise, BadSchedulesAreRefused) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(check_schedule({.steps = 10}).ok());
  for (const float sigma : {0.0F, -1.0F, infinity, nan}) {
    for (const NoiseSchedule& bad :
         {NoiseSchedule{.sigma_start = sigma, .steps = 10}, NoiseSchedule{.sigma_end = sigma, .steps = 10}}) {
      const auto checked = check_schedule(bad);
      ASSERT_FALSE(checked.ok());
      EXPECT_EQ(checked.error().kind, ErrorKind::usage);
      EXPECT_NE(checked.error().message.find("positive and finite"), std::string::npos);
    }
  }
  const auto few = check_schedule({.intervals = 2, .steps = 10});
  ASSERT_FALSE(few.ok());
  EXPECT_NE(few.error().message.find("at least 3"), std::string::npos);
  const auto brief = check_schedule({.steps = 9});
  ASSERT_FALSE(brief.ok());
  EXPECT_NE(brief.error().message.find("9 steps cannot be cut into 10 intervals"), std::string::npos);
}

TEST(Noise, WeightsByAddress) {
  const std::vector<float> clean = {1.0F, -0.0F, 0.5F, 2.0F, float_from_bits(0xFFC00001U)};
  const std::vector<float> noisy = noisy_weights(clean, 0.01F, 77, 9, 3);
  ASSERT_EQ(noisy.size(), 5U);
  for (std::size_t channel = 0; channel < 4; ++channel) {
    const float normal = random_normal(77, Stream::aqn, 9, 3 * 4294967296U + channel);
    const float noise = 0.01F * normal;
    EXPECT_EQ(float_bits(noisy[channel]), float_bits(clean[channel] + noise)) << channel;
  }
  EXPECT_EQ(float_bits(noisy[4]), 0x7FC00000U);
  EXPECT_NE(noisy_weights(clean, 0.01F, 77, 9, 4)[0], noisy[0]);
  EXPECT_NE(noisy_weights(clean, 0.01F, 77, 10, 3)[0], noisy[0]);
  // Silence leaves every bit.
  const std::vector<float> silent = noisy_weights(clean, 0.0F, 77, 9, 3);
  for (std::size_t i = 0; i < clean.size(); ++i) EXPECT_EQ(float_bits(silent[i]), float_bits(clean[i]));
}

}  // namespace
}  // namespace fp4proof::portable
