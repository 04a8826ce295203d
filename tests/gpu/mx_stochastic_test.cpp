// The packed road from bfloat16 to MXFP4 with stochastic rounding, on the host: every bfloat16 word under every scale
// with the random words on both sides of its threshold, against formats/mx.h; and its Philox words.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "formats/element.h"
#include "formats/mx.h"
#include "formats/philox.h"
#include "formats/spec_profiles.h"
#include "gpu/e2m1_packed.h"
#include "gpu/e2m1_stochastic.h"
#include "gpu/packed.h"
#include "gpu/philox_words.h"

namespace fp4proof::gpu {
namespace {

constexpr std::uint32_t infinity = 0x7F80U;
constexpr std::uint32_t e8m0_codes_of_bf16 = 254;

std::uint32_t next_random(std::uint32_t& state) {
  state = state * 1664525U + 1013904223U;
  return (state >> 16) ^ (state * 0x9E3779B1U);
}

/// The smallest random word that moves |word| / 2^(code - 127) up, or 0 where none is needed or none does.
std::uint32_t threshold(std::uint32_t word, std::uint32_t code) {
  const double magnitude =
      bf16_to_float(static_cast<std::uint16_t>(word & 0x7FFFU)) * pow2d(e8m0_bias - static_cast<int>(code));
  if (magnitude >= 6.0) return 0;
  const double steps = magnitude / (magnitude < 2.0 ? 0.5 : magnitude < 4.0 ? 1.0 : 2.0);
  const double fraction = steps - static_cast<int>(steps);
  return 0U - static_cast<std::uint32_t>(fraction * 0x1p32);
}

/// Eight elements, `lower` and `upper` taking turns, under one scale.
template <int Bits, bool Clips>
void expect_codes(const Profile& profile, std::uint32_t code, std::uint32_t lower, std::uint32_t upper,
                  const std::uint32_t (&random)[8]) {
  const std::uint32_t pair = lower | upper << 16;
  const std::uint32_t words[4] = {pair, pair, pair, pair};
  const std::uint32_t scaled = scaled_e2m1<Clips>(pair, packed_inverse_scale(code));
  const std::uint32_t codes = stochastic_e2m1<Bits>({scaled, scaled, scaled, scaled}, random) | signs_of_eight(words);
  for (int i = 0; i < 8; ++i) {
    const std::uint32_t word = i % 2 == 0 ? lower : upper;
    const std::uint32_t expected = mx_encode_element(profile, static_cast<std::uint8_t>(code), word << 16, random[i]);
    ASSERT_EQ(codes >> (4 * i) & 0xFU, expected)
        << profile.name << ": " << word << " under " << code << " with " << random[i];
  }
}

template <int Bits>
void expect_words_under_scales(const char* name, std::uint32_t code_step) {
  const Profile& profile = *find_profile(name);
  std::uint32_t state = Bits;
  std::int64_t tried = 0;
  for (std::uint32_t code = 0; code < e8m0_codes_of_bf16; code += code_step) {
    for (std::uint32_t magnitude = 0; magnitude < infinity; ++magnitude) {
      const std::uint32_t lower = magnitude | (magnitude << 15 & 0x8000U);
      const std::uint32_t upper = lower ^ 0x8000U;
      const std::uint32_t edge = threshold(magnitude, code);
      const std::uint32_t coarse = Bits == 32 ? edge : edge & ~(0xFFFFFFFFU >> (Bits % 32));
      const std::uint32_t random[8] = {edge,        edge - 1U, edge + 1U,   coarse,
                                       coarse - 1U, 0U,        0xFFFFFFFFU, next_random(state)};
      expect_codes<Bits, true>(profile, code, lower, upper, random);
      // Where nothing is above 6, as under `rceil`, the limit may be left out.
      if (magnitude == 0 || threshold(magnitude, code) != 0)
        expect_codes<Bits, false>(profile, code, upper, lower, random);
      if (::testing::Test::HasFatalFailure()) return;
      ++tried;
    }
  }
  EXPECT_GT(tried, 8'000'000 / code_step);
}

TEST(StochasticE2m1, EveryWordUnderEveryScale) { expect_words_under_scales<32>("mxfp4/ocp-sr", 1); }
TEST(StochasticE2m1, SixteenBits) { expect_words_under_scales<16>("mxfp4/rceil-sr16", 11); }
TEST(StochasticE2m1, EightBits) { expect_words_under_scales<8>("mxfp4/rceil-sr8", 13); }

TEST(StochasticE2m1, RulesThatDoNotClip) {
  for (const ScaleRule rule : {ScaleRule::ceil, ScaleRule::rceil}) {
    Profile profile;
    profile.scale_rule = rule;
    ASSERT_FALSE(rule_clips_e2m1(rule));
    for (std::uint32_t amax = 1; amax < infinity; ++amax) {
      const int scale = mx_scale_code(profile, amax << 16);
      ASSERT_LE(bf16_to_float(static_cast<std::uint16_t>(amax)), 6.0 * pow2d(scale - e8m0_bias)) << amax;
    }
  }
}

TEST(StochasticE2m1, DifferentNeighbours) {
  const Profile& profile = *find_profile("mxfp4/ocp-sr");
  std::uint32_t state = 5;
  for (int trial = 0; trial < 200'000; ++trial) {
    const std::uint32_t code = 60 + next_random(state) % 120;
    const std::uint32_t inverse = packed_inverse_scale(code);
    std::uint32_t words[4];
    std::uint32_t scaled[4];
    std::uint32_t random[8];
    for (int i = 0; i < 4; ++i) {
      const auto word = [&] { return (next_random(state) & 0x807FU) | (code + 3 - next_random(state) % 24) << 7; };
      const std::uint32_t lower = word();
      words[i] = lower | word() << 16;
      scaled[i] = scaled_e2m1<true>(words[i], inverse);
      for (int half = 0; half < 2; ++half) {
        random[2 * i + half] = next_random(state) | (next_random(state) % 2 == 0 ? 0U : 0xFFFC0000U);
      }
    }
    const std::uint32_t codes = stochastic_e2m1<32>(scaled, random) | signs_of_eight(words);
    for (int i = 0; i < 8; ++i) {
      const std::uint32_t word = words[i / 2] >> (16 * (i % 2)) << 16;
      ASSERT_EQ(codes >> (4 * i) & 0xFU, mx_encode_element(profile, static_cast<std::uint8_t>(code), word, random[i]));
    }
  }
}

TEST(PhiloxWords, AreThoseOfTheRules) {
  std::uint32_t state = 3;
  for (int trial = 0; trial < 20'000; ++trial) {
    const std::uint64_t seed = std::uint64_t{next_random(state)} << 32 | next_random(state);
    const auto stream = static_cast<Stream>(next_random(state) % stream_count);
    const std::uint32_t step = next_random(state);
    const std::uint32_t high = next_random(state) >> 2;
    const std::uint32_t low = next_random(state);
    const PhiloxBlock block = PhiloxWords(seed, stream, step, high).block(low);
    const std::uint64_t element = (std::uint64_t{high} << 32 | low) << 2;
    for (std::uint64_t i = 0; i < 4; ++i) {
      ASSERT_EQ(block.word[i], random_word(seed, stream, step, element + i)) << trial;
    }
  }
}

}  // namespace
}  // namespace fp4proof::gpu
