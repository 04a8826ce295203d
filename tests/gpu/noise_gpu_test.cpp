// add_noise() on the device against the portable reference, bit for bit.

#include "gpu/noise.h"

#include <gtest/gtest.h>

#include <limits>
#include <span>
#include <vector>

#include "formats/float_bits.h"
#include "formats/philox.h"
#include "reference/portable/noise.h"
#include "tests/gpu/device_memory.h"

namespace fp4proof::gpu {
namespace {

std::vector<std::uint32_t> words_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> words;
  for (const float value : values) words.push_back(float_bits(value));
  return words;
}

/// Weights around 1, and some of anything.
std::vector<float> weights_of(std::size_t count) {
  std::vector<float> weights(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t word = random_word(3, Stream::cases, 7, i);
    weights[i] = i % 17 == 11 ? float_from_bits(word) : 1.0F + (uniform_from_word(word) - 0.5F);
  }
  return weights;
}

TEST(NoiseOnDevice, GivesTheBitsOfTheReference) {
  if (!has_device()) GTEST_SKIP() << "no CUDA device";
  for (const std::size_t count : {0, 1, 2, 3, 5, 127, 4096, 100001}) {
    const std::vector<float> weights = weights_of(count);
    const DeviceArray<float> clean{std::span(weights)};
    for (const float sigma : {0.0F, 0.01F, 0.00123F, 0x1p-149F, 3e38F}) {
      for (const std::uint32_t layer : {0U, 17U, 0xFFFFFFFFU}) {
        const DeviceArray<float> noisy(count);
        const NoiseJob job{clean.get(), noisy.get(), static_cast<std::int64_t>(count), sigma, 0xABCDEF0123ULL,
                           5,           layer};
        ASSERT_EQ(add_noise(job, nullptr), Status::ok);
        EXPECT_EQ(words_of(noisy.values()), words_of(portable::noisy_weights(weights, sigma, job.seed, 5, layer)))
            << count << " channels, sigma " << sigma << ", layer " << layer;
        EXPECT_TRUE(noisy.margin_is_whole());
      }
    }
  }
}

TEST(NoiseRefusals, ContradictionsAreInvalid) {
  float weight = 1.0F;
  const NoiseJob sound{&weight, &weight, 1, 0.5F, 0, 0, 0};
  const auto expect_invalid = [&](auto spoil) {
    NoiseJob job = sound;
    spoil(job);
    EXPECT_EQ(add_noise(job, nullptr), Status::invalid);
  };
  expect_invalid([](NoiseJob& job) { job.clean = nullptr; });
  expect_invalid([](NoiseJob& job) { job.noisy = nullptr; });
  expect_invalid([](NoiseJob& job) { job.channels = -1; });
  expect_invalid([](NoiseJob& job) { job.channels = (std::int64_t{1} << 32) + 1; });
  expect_invalid([](NoiseJob& job) { job.sigma = -0.5F; });
  expect_invalid([](NoiseJob& job) { job.sigma = std::numeric_limits<float>::infinity(); });
  expect_invalid([](NoiseJob& job) { job.sigma = std::numeric_limits<float>::quiet_NaN(); });
}

}  // namespace
}  // namespace fp4proof::gpu
