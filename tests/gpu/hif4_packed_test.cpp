// The packed road from bfloat16 to HiF4, on the host: every largest magnitude, every threshold, and every bfloat16 word
// under every scale, against formats/hif4.h.

#include <gtest/gtest.h>

#include <cstdint>

#include "formats/hif4.h"
#include "formats/spec_profiles.h"
#include "gpu/packed.h"
#include "gpu/s1p2_packed.h"

namespace fp4proof::gpu {
namespace {

constexpr std::uint32_t infinity = 0x7F80U;

const Profile& profile() { return *find_profile("hif4/gcc"); }

std::uint32_t halves(std::uint32_t lower, std::uint32_t upper) { return lower | upper << 16; }

TEST(PackedArithmetic, MagnitudesOfBfloat16) {
  EXPECT_EQ(packed_larger_magnitude_bf16(halves(0xBF80U, 0x0001U), halves(0x3F00U, 0x8002U)), halves(0xBF80U, 0x8002U));
  EXPECT_EQ(packed_larger_magnitude_bf16(halves(0x7F80U, 0xFF81U), halves(0xFF80U, 0x0000U)), halves(0xFF80U, 0x7FFFU));
  EXPECT_EQ(packed_at_least_bf16(halves(0x3F80U, 0x8000U), halves(0x3F80U, 0x0001U)), 0x0000FFFFU);
  EXPECT_EQ(packed_at_least_bf16(halves(0x7FC0U, 0x7F80U), halves(0x0000U, 0x7F80U)), 0xFFFF0000U);
  EXPECT_EQ(packed_min_u16(halves(0x8000U, 1U), halves(0x7FFFU, 2U)), halves(0x7FFFU, 1U));
  EXPECT_EQ(packed_clamped_sum_s16(halves(5U, 100U), halves(0xFFFAU, 0xFFFFU), both_halves(50U)), halves(0U, 50U));
  EXPECT_EQ(packed_half(0x12345678U, 0), 0x56785678U);
  EXPECT_EQ(packed_half(0x12345678U, 1), 0x12341234U);
}

TEST(PackedHif4, ScaleOfEveryLargestMagnitude) {
  for (std::uint32_t amax = 0; amax < infinity; ++amax) {
    const std::uint32_t other = infinity - 1 - amax;
    const std::uint32_t expected =
        halves(hif4_scale_code(profile(), amax << 16), hif4_scale_code(profile(), other << 16));
    ASSERT_EQ(packed_e6m2_codes(halves(amax, other)), expected) << amax;
  }
}

TEST(PackedHif4, SpecialMagnitudesDisturbNoNeighbour) {
  for (std::uint32_t amax = infinity; amax <= 0x7FFFU; ++amax) {
    ASSERT_EQ(packed_e6m2_codes(halves(amax, 0x3F80U)) >> 16, hif4_scale_code(profile(), 0x3F800000U));
  }
}

/// Scales of `code`, beside those of another code.
PackedHif4Scales scales_of(std::uint32_t code) { return packed_hif4_scales(halves(code, e6m2_max - code)); }

TEST(PackedHif4, ReciprocalOfEveryCode) {
  for (std::uint32_t code = 0; code <= e6m2_max; ++code) {
    Magnitude quarters = e6m2_reciprocal_bf16(static_cast<std::uint8_t>(code));
    quarters.exponent += 2;
    const auto word = static_cast<std::uint16_t>(scales_of(code).reciprocals);
    EXPECT_EQ(compare(magnitude_of_bits(float_bits(bf16_to_float(word))), quarters), 0) << code;
    EXPECT_EQ(scales_of(e6m2_max - code).reciprocals >> 16, word) << code;
  }
}

TEST(PackedHif4, LevelBitsOfEveryMagnitudeUnderEveryScale) {
  for (std::uint32_t code = 0; code <= e6m2_max; ++code) {
    const auto e6m2 = static_cast<std::uint8_t>(code);
    const PackedHif4Scales scales = scales_of(code);
    ASSERT_EQ(scales_of(e6m2_max - code).four >> 16, scales.four & 0xFFFFU);
    for (std::uint32_t word = 0; word < infinity; ++word) {
      const std::uint32_t pair = halves(word, 0);
      const bool above_four = hif4_reaches(profile(), e6m2, word << 16, 2);
      const bool above_two = hif4_reaches(profile(), e6m2, word << 16, 1);
      ASSERT_EQ(packed_hif4_level2(pair, scales), above_four ? 0xFFFFU : 0U) << code << " " << word;
      const auto level3 = [&](std::uint32_t level2) {
        return packed_at_least_bf16(pair, packed_hif4_level3_threshold(scales, level2)) & 0xFFFFU;
      };
      ASSERT_EQ(level3(0), above_two ? 0xFFFFU : 0U) << code << " " << word;
      ASSERT_EQ(level3(0xFFFFFFFFU), above_four ? 0xFFFFU : 0U) << code << " " << word;
    }
  }
}

/// Elements `word` and `other` under two level bits, against the rules.
void expect_codes(std::uint32_t code, int levels, std::uint32_t word, std::uint32_t other) {
  const auto e6m2 = static_cast<std::uint8_t>(code);
  const PackedHif4Scales scales = scales_of(code);
  std::uint32_t reciprocals = packed_half(scales.reciprocals, 0);
  for (int i = 0; i < levels; ++i) reciprocals = packed_halved(reciprocals, 0xFFFFFFFFU);
  const std::uint32_t expected = hif4_encode_element(profile(), e6m2, levels, word << 16, 0) |
                                 hif4_encode_element(profile(), e6m2, levels, other << 16, 0) << 4;
  ASSERT_EQ(packed_s1p2(halves(word, other), reciprocals, packed_half(scales.tie_breaks, 0)) >> 24, expected)
      << "E6M2 " << code << ", levels " << levels << ", words " << word << " " << other;
}

bool is_finite(std::uint32_t word) { return (word & 0x7FFFU) < infinity; }

TEST(PackedHif4, EveryWordUnderEveryScale) {
  for (std::uint32_t code = 0; code <= e6m2_max; ++code) {
    for (std::uint32_t word = 0; word < 0x8000U; ++word) {
      if (is_finite(word)) expect_codes(code, 0, word, word ^ 0x8000U);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(PackedHif4, WordsUnderLevelBits) {
  for (std::uint32_t code = 0; code <= e6m2_max; ++code) {
    for (int levels = 1; levels <= 2; ++levels) {
      for (std::uint32_t i = 0; i < 0x2000U; ++i) {
        const std::uint32_t word = (i * 0x9E37U + code) & 0xFFFFU;
        const std::uint32_t other = (word * 3U) & 0xFFFFU;
        if (is_finite(word) && is_finite(other)) expect_codes(code, levels, word, other);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(PackedHif4, FourRowsOfTwoColumns) {
  std::uint32_t state = 1;
  const auto random = [&] {
    state = state * 1664525U + 1013904223U;
    return state >> 16 ^ state << 13;
  };
  for (int trial = 0; trial < 100'000; ++trial) {
    const std::uint32_t codes[2] = {120U + random() % 60U, 120U + random() % 60U};
    std::uint32_t words[4] = {};
    std::uint32_t expected = 0;
    for (int i = 0; i < 8; ++i) {
      const std::uint32_t code = codes[i / 4];
      const std::uint32_t exponent = 79U + code / 4U + 3U - random() % 9U;
      const std::uint32_t word = random() % 16U == 0 ? random() & 0x8000U : (random() & 0x807FU) | exponent << 7;
      words[i % 4] |= word << (16 * (i / 4));
      expected |= std::uint32_t{hif4_encode_element(profile(), static_cast<std::uint8_t>(code), 1, word << 16, 0)}
                  << (4 * i);
    }
    const PackedHif4Scales scales = packed_hif4_scales(halves(codes[0], codes[1]));
    const std::uint32_t reciprocals = packed_halved(scales.reciprocals, 0xFFFFFFFFU);
    ASSERT_EQ(packed_s1p2_rows(words, reciprocals, scales.tie_breaks), expected) << trial;
  }
}

}  // namespace
}  // namespace fp4proof::gpu
