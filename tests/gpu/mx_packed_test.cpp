// The packed road from bfloat16 to MXFP4, on the host: every bfloat16 word under every scale, and every largest
// magnitude under every scale rule, against formats/mx.h.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "formats/float_bits.h"
#include "formats/mx.h"
#include "formats/spec.h"
#include "gpu/e2m1_packed.h"
#include "gpu/packed.h"

namespace fp4proof::gpu {
namespace {

constexpr std::uint32_t infinity = 0x7F80U;
constexpr std::uint32_t magnitude_mask = 0x7FFFU;
constexpr std::array rules = {ScaleRule::floor, ScaleRule::ceil, ScaleRule::rceil, ScaleRule::even, ScaleRule::nearest};

Profile profile_with(ScaleRule rule) {
  Profile profile;
  profile.scale_rule = rule;
  return profile;
}

std::uint32_t scale_code_of(const Profile& profile, std::uint32_t amax) {
  return amax == 0 ? std::uint32_t{profile.zero_scale_code} : mx_scale_code(profile, amax << 16);
}

std::uint32_t halves(std::uint32_t lower, std::uint32_t upper) { return lower | upper << 16; }

// ---------------------------------------------------------------------------------------------------------------------
// The emulated instructions, against values worked out by hand and against the machine
// ---------------------------------------------------------------------------------------------------------------------

TEST(PackedArithmetic, RoundsOnce) {
  // 1.0078125^2 = 1 + 2^-6 + 2^-14, rounded 1 + 2^-6. With another 2^-8 it lies just above a tie; had the product been
  // rounded first, it would be the tie, and even is down.
  EXPECT_EQ(packed_fma_bf16(both_halves(0x3F81U), both_halves(0x3F81U), both_halves(0x8000U)), both_halves(0x3F82U));
  EXPECT_EQ(packed_fma_bf16(both_halves(0x3F81U), both_halves(0x3F81U), both_halves(0x3B80U)), both_halves(0x3F83U));
  EXPECT_EQ(packed_fma_bf16(both_halves(0x3F80U), both_halves(0x3F80U), both_halves(0x3B80U)), both_halves(0x3F80U));
  // (1 + 2^-7) * 2^-8 is just more than half a place of 1, 2^-133 is nothing.
  EXPECT_EQ(packed_fma_bf16(both_halves(0x3B80U), both_halves(0x3F81U), both_halves(0x3F80U)), both_halves(0x3F81U));
  EXPECT_EQ(packed_fma_bf16(both_halves(0x0001U), both_halves(0x3F80U), both_halves(0x3F80U)), both_halves(0x3F80U));
  // The same in binary16: 1 + 2^-9 + 2^-20 + 2^-11.
  EXPECT_EQ(packed_fma_f16(both_halves(0x3C01U), both_halves(0x3C01U), both_halves(0x1000U)), both_halves(0x3C03U));
  // 2048 + 1 is a tie to even; 2048 + 3 one upwards.
  EXPECT_EQ(packed_fma_f16(both_halves(0x3C00U), halves(0x3C00U, 0x4200U), both_halves(0x6800U)),
            halves(0x6800U, 0x6802U));
}

TEST(PackedArithmetic, Subnormals) {
  // 2^-127 and 2^-133 times 2^127 and 2^126.
  EXPECT_EQ(packed_fma_bf16(halves(0x0040U, 0x0001U), halves(0x7F00U, 0x7E80U), both_halves(0x8000U)),
            halves(0x3F80U, 0x3C00U));
  // 1.5 * 2^-133 is a tie between 2^-133 and 2^-132.
  EXPECT_EQ(packed_fma_bf16(both_halves(0x3FC0U), both_halves(0x0001U), both_halves(0)), both_halves(0x0002U));
  EXPECT_EQ(packed_fma_bf16(both_halves(0x3F00U), both_halves(0x0001U), both_halves(0)), both_halves(0x0000U));
}

TEST(PackedArithmetic, SpecialValues) {
  const std::uint32_t one = both_halves(0x3F80U);
  EXPECT_EQ(packed_fma_bf16(halves(0x7F80U, 0x7F7FU), halves(0x3F80U, 0x4000U), both_halves(0)), both_halves(0x7F80U));
  EXPECT_EQ(packed_fma_bf16(halves(0x7F80U, 0x7FC1U), halves(0x0000U, 0x3F80U), one), both_halves(0x7FFFU));
  EXPECT_EQ(packed_fma_bf16(halves(0x8000U, 0x0000U), one, both_halves(0x8000U)), halves(0x8000U, 0x0000U));
  const std::uint32_t unit = both_halves(0x3C00U);
  EXPECT_EQ(packed_fma_sat_f16(halves(0x7C00U, 0x7E00U), unit, both_halves(0)), halves(0x3C00U, 0x0000U));
  EXPECT_EQ(packed_fma_sat_f16(halves(0xBC00U, 0x8000U), unit, both_halves(0x8000U)), 0U);
  EXPECT_EQ(packed_fma_sat_f16(halves(0x3800U, 0x3C01U), unit, both_halves(0)), halves(0x3800U, 0x3C00U));
  EXPECT_EQ(packed_fma_f16(halves(0x7BFFU, 0x7BFFU), halves(0x3C00U, 0x4000U), both_halves(0)),
            halves(0x7BFFU, 0x7C00U));
}

TEST(PackedArithmetic, ProductsOfEveryWord) {
  // Products of bfloat16 and sums of a few bits are exact in binary32, whose rounding to bfloat16 is formats/'s own.
  for (std::uint32_t word = 0; word < infinity; ++word) {
    for (const std::uint32_t factor : {0x3F80U, 0x3FC1U, 0xBF7FU, 0x3E99U}) {
      const float product =
          bf16_to_float(static_cast<std::uint16_t>(word)) * bf16_to_float(static_cast<std::uint16_t>(factor));
      if (std::fabs(product) < 0x1p-120F) continue;  // binary32 itself may round there
      const std::uint32_t expected = float_to_bf16(product);
      ASSERT_EQ(packed_fma_bf16(word, factor, 0x8000U) & 0xFFFFU, expected) << word << " * " << factor;
    }
  }
}

TEST(PackedArithmetic, BytesAndMaxima) {
  EXPECT_EQ(permuted_bytes(0x33221100U, 0x77665544U, 0x7250U), 0x77225500U);
  EXPECT_EQ(permuted_bytes(0x00008000U, 0x80FF0000U, 0xF9B0U), 0xFFFF0000U);
  EXPECT_EQ(packed_max_u16(halves(0x8000U, 1U), halves(0x7FFFU, 2U)), halves(0x8000U, 2U));
}

// ---------------------------------------------------------------------------------------------------------------------
// Scale codes
// ---------------------------------------------------------------------------------------------------------------------

TEST(PackedScales, EveryLargestMagnitudeUnderEveryRule) {
  for (const ScaleRule rule : rules) {
    const Profile profile = profile_with(rule);
    const PackedScaleRule packed = packed_scale_rule(rule);
    for (std::uint32_t amax = 0; amax < infinity; ++amax) {
      const std::uint32_t other = infinity - 1 - amax;
      const std::uint32_t codes = packed_scale_codes(halves(amax, other), packed);
      const std::uint32_t expected = halves(scale_code_of(profile, amax), scale_code_of(profile, other));
      ASSERT_EQ(codes, expected) << name_of(rule) << " " << amax;
      ASSERT_EQ(packed_not_finite(halves(amax, other)), 0U);
      ASSERT_EQ(packed_marked_codes(codes, 0), expected);
      const std::uint32_t inverse = packed_inverse_scales(codes);
      ASSERT_EQ(halves(inverse & 0xFFFFU, inverse & 0xFFFFU), packed_inverse_scale(expected & 0xFFFFU));
      ASSERT_EQ(halves(inverse >> 16, inverse >> 16), packed_inverse_scale(expected >> 16));
    }
  }
}

TEST(PackedScales, InfinitiesAndNaNsAreMarked) {
  for (const ScaleRule rule : rules) {
    for (std::uint32_t amax = infinity; amax <= magnitude_mask; ++amax) {
      const std::uint32_t pair = halves(amax, 0x3F80U);
      const std::uint32_t marks = packed_not_finite(pair);
      ASSERT_EQ(marks, 0x8000U);
      const std::uint32_t codes = packed_marked_codes(packed_scale_codes(pair, packed_scale_rule(rule)), marks);
      ASSERT_EQ(codes, halves(e8m0_nan, mx_scale_code(profile_with(rule), 0x3F800000U)));
    }
  }
}

TEST(PackedScales, InverseOfEveryCode) {
  for (std::uint32_t code = 0; code <= e8m0_max; ++code) {
    const auto inverse = static_cast<std::uint16_t>(packed_inverse_scale(code));
    EXPECT_EQ(bf16_to_float(inverse), pow2f(e8m0_bias - static_cast<int>(code))) << code;
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Elements
// ---------------------------------------------------------------------------------------------------------------------

/// Every bfloat16 word that a block of this scale code can hold is below 16 times the scale.
bool fits(std::uint32_t word, std::uint32_t code) {
  const float magnitude = bf16_to_float(static_cast<std::uint16_t>(word & magnitude_mask));
  return (word & magnitude_mask) < infinity && magnitude < 16.0 * pow2d(static_cast<int>(code) - e8m0_bias);
}

TEST(PackedElements, EveryWordUnderEveryScale) {
  const Profile profile;
  std::int64_t tried = 0;
  for (std::uint32_t code = 0; code <= e8m0_max; ++code) {
    const auto scale = static_cast<std::uint8_t>(code);
    const std::uint32_t inverse = packed_inverse_scale(code);
    for (std::uint32_t word = 0; word < 0x10000U; ++word) {
      const std::uint32_t other = word * 0x9E37U & 0xFFFFU;  // odd factor: it, too, runs through every word
      if (!fits(word, code)) continue;
      const std::uint32_t upper = fits(other, code) ? other : word ^ 0x8000U;
      const std::uint32_t expected =
          mx_encode_element(profile, scale, word << 16, 0) | mx_encode_element(profile, scale, upper << 16, 0) << 4;
      ASSERT_EQ(packed_e2m1(halves(word, upper), inverse) >> 24, expected) << word << " " << upper << " " << code;
      ++tried;
    }
  }
  EXPECT_GT(tried, 8'000'000);  // the loops did not skip what they are there for
}

TEST(PackedElements, EveryBlockScaleLeavesWordsBelowSixteenScales) {
  for (const ScaleRule rule : rules) {
    for (std::uint32_t amax = 1; amax < infinity; ++amax) {
      ASSERT_TRUE(fits(amax, scale_code_of(profile_with(rule), amax))) << name_of(rule) << " " << amax;
    }
  }
}

TEST(PackedElements, EightCodesOfARow) {
  // 6, -0, 0.25, 0.75, -1.25, 1.75, -3.5, 5 under scale 1.
  const std::uint32_t inverse = packed_inverse_scale(127);
  const std::uint32_t a = packed_e2m1(halves(0x40C0U, 0x8000U), inverse);
  const std::uint32_t b = packed_e2m1(halves(0x3E80U, 0x3F40U), inverse);
  const std::uint32_t c = packed_e2m1(halves(0xBFA0U, 0x3FE0U), inverse);
  const std::uint32_t d = packed_e2m1(halves(0xC060U, 0x40A0U), inverse);
  EXPECT_EQ(gathered_top_bytes(a, b, c, d), 0x6E4A2087U);
}

TEST(PackedElements, FourRowsOfTwoColumns) {
  const Profile profile;
  std::uint32_t state = 1;
  for (int trial = 0; trial < 100'000; ++trial) {
    std::uint32_t words[4];
    std::uint32_t expected = 0;
    const std::uint32_t lower = 120U + state % 15U;
    const std::uint32_t upper = 134U - state % 15U;
    for (int row = 0; row < 4; ++row) {
      // Signs and fractions are random, exponents from far below the deadzone to beyond the largest element.
      const auto word = [&](std::uint32_t scale) {
        state = state * 1664525U + 1013904223U;
        return (state >> 16 & 0x807FU) | (scale - 7U + (state >> 8) % 11U) << 7;
      };
      const std::uint32_t first = word(lower);
      const std::uint32_t second = word(upper);
      words[row] = halves(first, second);
      const auto code = [&](std::uint32_t scale, std::uint32_t half) {
        return std::uint32_t{mx_encode_element(profile, static_cast<std::uint8_t>(scale), half << 16, 0)};
      };
      expected |= halves(code(lower, first), code(upper, second)) << (4 * row);
    }
    const std::uint32_t inverse = packed_inverse_scales(halves(lower, upper));
    ASSERT_EQ(packed_e2m1_rows(words, inverse, ~0U), expected) << trial;
    // A column that is not finite has no codes, and its neighbour keeps its own.
    for (std::uint32_t special : {0x7F80U, 0xFF80U, 0x7F81U, 0x7FFFU, 0xFFFFU}) {
      std::uint32_t with_special[4] = {words[0], words[1], words[2], words[3]};
      std::uint32_t& in_lower = with_special[trial % 4];
      in_lower = halves(special, in_lower >> 16);
      ASSERT_EQ(packed_e2m1_rows(with_special, inverse, 0xFFFF0000U), expected & 0xFFFF0000U) << trial;
      in_lower = halves(words[trial % 4] & 0xFFFFU, special);
      ASSERT_EQ(packed_e2m1_rows(with_special, inverse, 0x0000FFFFU), expected & 0x0000FFFFU) << trial;
    }
  }
}

}  // namespace
}  // namespace fp4proof::gpu
