// Masks of the residual (C22 to C24) and its packed form (C26), on hand-made rows.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "formats/spec_profiles.h"
#include "reference/portable/correct_kernels.h"
#include "reference/portable/residual_mask.h"
#include "tests/unit/correction_inputs.h"

namespace fp4proof::portable {
namespace {

using Mask = std::vector<std::uint8_t>;
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();
const Profile& ocp = *find_profile("mxfp4/ocp");

Geometry geometry_of(std::int64_t rows, std::int64_t columns) {
  const std::int64_t shape[] = {rows, columns};
  return *cut_into_blocks(ocp, shape, -1, Tail::pad);
}

Mask mask_of(const ResidualSpec& spec, std::int64_t rows, const std::vector<float>& residual,
             const std::vector<float>& input) {
  return residual_mask(spec, geometry_of(rows, static_cast<std::int64_t>(residual.size()) / rows), input, residual);
}

ResidualSpec spec(ResidualMask mask) {
  ResidualSpec s;
  s.on = true;
  s.mask = mask;
  return s;
}

TEST(ResidualMask, TwoOfFour) {
  const ResidualSpec s = spec(ResidualMask::two_four);
  const auto kept = [&](const std::vector<float>& r) { return mask_of(s, 1, r, r); };
  EXPECT_EQ(kept({1, 2, 3, 4}), (Mask{0, 0, 1, 1}));
  EXPECT_EQ(kept({-4, 3, -2, 1}), (Mask{1, 1, 0, 0}));
  EXPECT_EQ(kept({1, 1, 1, 1}), (Mask{1, 1, 0, 0}));
  EXPECT_EQ(kept({0, -2, 2, -2}), (Mask{0, 1, 1, 0}));
  EXPECT_EQ(kept({1, 5, 1, 1}), (Mask{1, 1, 0, 0}));
  EXPECT_EQ(kept({1, 1, 1, 5}), (Mask{1, 0, 0, 1}));
  EXPECT_EQ(kept({0, 0, -0.0F, 0}), (Mask{1, 1, 0, 0}));
  EXPECT_EQ(kept({nan, 0, 0, 1}), (Mask{1, 0, 0, 1}));  // NaN counts as 0
  EXPECT_EQ(kept({nan, 1e-45F, 0, 1}), (Mask{0, 1, 0, 1}));
  EXPECT_EQ(kept({3, infinity, 2, -infinity}), (Mask{0, 1, 0, 1}));
  EXPECT_EQ(kept({1, 2, 3, 4, 0, -1}), (Mask{0, 0, 1, 1, 1, 1}));  // behind the end: 0
}

TEST(ResidualMask, LanesAndScalarFollowTheRule) {
  const float levels[] = {0.0F, 1.0F, -1.0F, 2.0F, nan};
  for (int code = 0; code < 625; ++code) {
    const float four[] = {levels[code % 5], levels[code / 5 % 5], levels[code / 25 % 5], levels[code / 125]};
    std::uint8_t kept[4];
    keep_two_of_four(four, kept);
    std::vector<std::uint32_t> words(16);
    for (std::size_t i = 0; i < 16; ++i) words[i] = float_bits(four[i % 4]);
    std::vector<std::uint8_t> lanes(16, 0xFF);
    mask_two_of_four(words.data(), 16, lanes.data());
    for (std::size_t i = 0; i < 16; ++i) ASSERT_EQ(lanes[i], kept[i % 4] != 0 ? 0xFF : 0) << code;
    ASSERT_EQ(kept[0] + kept[1] + kept[2] + kept[3], 2);
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        const float a = four[i] == four[i] ? std::abs(four[i]) : 0.0F;
        const float b = four[j] == four[j] ? std::abs(four[j]) : 0.0F;
        const bool i_goes_first = a > b || (a == b && i < j);
        if (i_goes_first) {
          ASSERT_GE(kept[i], kept[j]) << code;
        }
      }
    }
  }
}

TEST(ResidualMask, KeptCountIsTheExactCeiling) {
  EXPECT_EQ(kept_count(0.5F, 4), 2);
  EXPECT_EQ(kept_count(0.5F, 5), 3);
  EXPECT_EQ(kept_count(1.0F, 5), 5);
  EXPECT_EQ(kept_count(0.25F, 8), 2);
  EXPECT_EQ(kept_count(0.1F, 10), 2);  // the binary32 number 0.1 is above a tenth
  EXPECT_EQ(kept_count(float_from_bits(1), 1000), 1);
  EXPECT_EQ(kept_count(0.5F, 0), 0);
  EXPECT_EQ(kept_count(0.5F, (std::int64_t{1} << 38) + 1), (std::int64_t{1} << 37) + 1);
}

TEST(ResidualMask, Channels) {
  ResidualSpec s = spec(ResidualMask::top_channels);
  // Sums of squares: 2, 5, 5, 2: columns 1 and 2.
  const std::vector<float> r = {1, 1, 2, 1, 1, -2, 1, -1};
  EXPECT_EQ(mask_of(s, 2, r, r), (Mask{0, 1, 1, 0, 0, 1, 1, 0}));
  s.fraction = 0.6F;  // ceil(2.4) = 3: of the equal columns 0 and 3 the lower one
  EXPECT_EQ(mask_of(s, 2, r, r), (Mask{1, 1, 1, 0, 1, 1, 1, 0}));
  s.fraction = 0.25F;  // of the equal columns 1 and 2 the lower one
  EXPECT_EQ(mask_of(s, 2, r, r), (Mask{0, 1, 0, 0, 0, 1, 0, 0}));
  EXPECT_EQ(mask_of(s, 2, {nan, 1, 0, 0, 0, 0, 0, 0}, r), (Mask{0, 1, 0, 0, 0, 1, 0, 0}));
}

TEST(ResidualMask, ChannelSumsAreInRowOrder) {
  // 2^54 + 1 + 1 + 1 stays 2^54 in binary64, 1 + 1 + 1 + 2^54 becomes 2^54 + 4.
  ResidualSpec s = spec(ResidualMask::top_channels);
  const float big = 134217728.0F;  // 2^27
  const std::vector<float> r = {big, 1, 1, 1, 1, 1, 1, big};
  EXPECT_EQ(mask_of(s, 4, r, r), (Mask{0, 1, 0, 1, 0, 1, 0, 1}));
}

TEST(ResidualMask, Tiles) {
  ResidualSpec s = spec(ResidualMask::top_tiles);
  s.tile_rows = 2;
  s.tile_cols = 2;
  // 3 x 3 in tiles of 2 x 2: four tiles, the edge ones smaller. Measures of r: 4, 9, 9, 1.
  const std::vector<float> r = {1, 1, 3,  //
                                1, 1, 0,  //
                                0, 3, 1};
  const std::vector<float> x = {5, 0,  1,  //
                                0, 0,  1,  //
                                2, -7, -5};
  s.measure = TileMeasure::residual_l2;
  EXPECT_EQ(mask_of(s, 3, r, x), (Mask{0, 0, 1, 0, 0, 1, 1, 1, 0}));
  s.fraction = 0.25F;  // equal measures: the one that comes first
  EXPECT_EQ(mask_of(s, 3, r, x), (Mask{0, 0, 1, 0, 0, 1, 0, 0, 0}));
  s.fraction = 0.5F;
  s.measure = TileMeasure::input_max;  // 5, 1, 7, 5
  EXPECT_EQ(mask_of(s, 3, r, x), (Mask{1, 1, 0, 1, 1, 0, 1, 1, 0}));
  s = spec(ResidualMask::tiles_above);
  s.tile_rows = 2;
  s.tile_cols = 2;
  s.threshold = 5.0F;  // exceeds: 5 does not
  EXPECT_EQ(mask_of(s, 3, r, x), (Mask{0, 0, 0, 0, 0, 0, 1, 1, 0}));
  s.threshold = 0.0F;
  EXPECT_EQ(mask_of(s, 3, r, {nan, 0, 1, 0, 0, infinity, 0, 0, 0}), (Mask{0, 0, 1, 0, 0, 1, 0, 0, 0}));
}

TEST(ResidualMask, CodesOutsideBecomePlusZero) {
  const Geometry g = geometry_of(1, 32);
  std::vector<std::uint8_t> codes(16, 0xFA);
  Mask mask(32, 1);
  mask[0] = mask[3] = mask[4] = mask[5] = 0;
  apply_mask(ocp, g, mask, codes);
  EXPECT_EQ(codes[0], 0xF0);
  EXPECT_EQ(codes[1], 0x0A);
  EXPECT_EQ(codes[2], 0x00);
  EXPECT_EQ(codes[3], 0xFA);
}

TEST(PackedResidual, ByHand) {
  // mxfp4/ocp, scale 1. Group 0: x1 = 6 3 2 1 and r = 1, 0.25, 0.125, 0.0625: places 0 and 1.
  // Group 1: 2.5 is a tie and becomes 2: r = 0 0 0.5 0: place 2 and, of the equal ones, 0.
  std::vector<float> x = filled(32, 0.0F);
  x[0] = 7.0F;
  x[1] = 3.25F;
  x[2] = 2.125F;
  x[3] = 1.0625F;
  x[6] = 2.5F;
  const std::int64_t shape[] = {1, 32};
  const auto c = correct(ocp, *find_correction_stack("resq"), view_of(x, shape));
  ASSERT_TRUE(c.ok());
  // amax of r is 1: scale 2^-2. 1 / 0.25 = 4 (code 6), 0.25 / 0.25 = 1 (code 2), 0.5 / 0.25 = 2 (code 4).
  EXPECT_EQ(scale_of(*c->residual, 0, 0), 125);
  const auto packed = pack_residual(*c, view_of(x, shape));
  ASSERT_TRUE(packed.ok());
  ASSERT_EQ(packed->code_bytes_per_row, 8);
  ASSERT_EQ(packed->place_bytes_per_row, 4);
  EXPECT_EQ(packed->codes, (std::vector<std::uint8_t>{0x26, 0x40, 0, 0, 0, 0, 0, 0}));
  // Group 0: 0 | 1 << 2 = 4; group 1: 0 | 2 << 2 = 8; all others keep 0 and 1.
  EXPECT_EQ(packed->places, (std::vector<std::uint8_t>{0x84, 0x44, 0x44, 0x44}));
  const auto codes = unpack_residual(c->geometry(), *packed);
  ASSERT_TRUE(codes.ok());
  EXPECT_EQ(*codes, c->residual->quantized.codes);
}

TEST(PackedResidual, RoundTripOnMixedNumbers) {
  const std::int64_t shape[] = {3, 5, 200};
  const std::vector<float> x = mixed_values(3000, 4);
  for (const char* profile : {"mxfp4/rceil", "mxfp4/ocp", "hif4/gcc", "nvfp4/tensor-scale", "mxfp4-2d/rceil"}) {
    for (const char* stack : {"resq", "hadamard-16+resq", "mbs+resq"}) {
      const CorrectOptions options{.quantize = {.axis = stack[0] == 'h' ? 2 : 1, .tail = Tail::pad}};
      const auto c = correct(*find_profile(profile), *find_correction_stack(stack), view_of(x, shape), options);
      if (!c.ok()) continue;  // refused: correction_rules_test
      const auto packed = pack_residual(*c, view_of(x, shape), options);
      ASSERT_TRUE(packed.ok()) << packed.error().message;
      const auto codes = unpack_residual(c->geometry(), *packed);
      ASSERT_TRUE(codes.ok());
      EXPECT_EQ(*codes, c->residual->quantized.codes) << profile << " " << stack;
    }
  }
}

TEST(PackedResidual, Refusals) {
  const std::vector<float> x = filled(64, 1.0F);
  const std::int64_t shape[] = {2, 32};
  for (const auto& [profile, stack] :
       {std::pair("mxfp4/ocp", "rfq"), std::pair("mxfp8-e4m3/ocp", "resq"), std::pair("mxfp4/ocp", "none")}) {
    const auto c = correct(*find_profile(profile), *find_correction_stack(stack), view_of(x, shape));
    ASSERT_TRUE(c.ok());
    const auto packed = pack_residual(*c, view_of(x, shape));
    ASSERT_FALSE(packed.ok());
    EXPECT_EQ(packed.error().kind, ErrorKind::usage);
  }
  const auto c = correct(ocp, *find_correction_stack("resq"), view_of(x, shape));
  const std::int64_t other[] = {1, 64};
  EXPECT_EQ(pack_residual(*c, view_of(x, other)).error().kind, ErrorKind::usage);

  const auto good = pack_residual(*c, view_of(x, shape));
  ASSERT_TRUE(good.ok());
  for (const unsigned places : {0x0U, 0x5U, 0xFU, 0x1U, 0x3U}) {  // (0,0) (1,1) (3,3) (1,0) (3,0)
    PackedResidual bad = *good;
    bad.places[5] = static_cast<std::uint8_t>(0x40 | places);
    const auto refused = unpack_residual(c->geometry(), bad);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().kind, ErrorKind::corrupt);
    EXPECT_NE(refused.error().message.find("row 1, group 2"), std::string::npos) << refused.error().message;
  }
  PackedResidual short_codes = *good;
  short_codes.codes.pop_back();
  EXPECT_EQ(unpack_residual(c->geometry(), short_codes).error().kind, ErrorKind::corrupt);
  PackedResidual short_places = *good;
  short_places.places.pop_back();
  EXPECT_EQ(unpack_residual(c->geometry(), short_places).error().kind, ErrorKind::corrupt);
  EXPECT_EQ(unpack_residual(geometry_of(2, 64), *good).error().kind, ErrorKind::corrupt);
}

}  // namespace
}  // namespace fp4proof::portable
