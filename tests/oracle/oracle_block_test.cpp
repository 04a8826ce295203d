// Blocks of the oracle against values worked out by hand: public faults with a minimal input, the policies, HiF4's
// levels, 2D tiles, NVFP4.

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "formats/spec_profiles.h"
#include "reference/exact/block.h"
#include "reference/exact/element.h"
#include "reference/exact/float_word.h"
#include "reference/exact/scale.h"

namespace fp4proof::exact {
namespace {

using Codes = std::vector<std::uint8_t>;
using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t quiet_nan = 0x7FC00000U;
constexpr std::uint32_t infinity = 0x7F800000U;
constexpr std::uint32_t minus_infinity = 0xFF800000U;
constexpr std::uint32_t minus_zero = 0x80000000U;

std::uint32_t word(float value) { return std::bit_cast<std::uint32_t>(value); }

Profile named(const char* name) { return *find_profile(name); }

Profile with_rule(const char* name, ScaleRule rule) {
  Profile profile = named(name);
  profile.scale_rule = rule;
  return profile;
}

/// The words at the front of a block, the rest zero.
Words block_of(const Profile& profile, Words front) {
  front.resize(static_cast<std::size_t>(profile.block.size()), 0);
  return front;
}

EncodedBlock encoded(const Profile& profile, Words front) { return encode_block(profile, block_of(profile, front)); }

Codes front(const EncodedBlock& block, std::size_t count) {
  return {block.codes.begin(), block.codes.begin() + static_cast<std::ptrdiff_t>(count)};
}

std::uint32_t decoded_front(const Profile& profile, std::uint8_t scale, std::uint8_t code) {
  EncodedBlock block = encoded(profile, {});
  block.scale = scale;
  block.codes[0] = code;
  return decode_block(profile, block).front();
}

Words random_words(std::size_t count, unsigned seed, float sigma = 1.0F) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0F, sigma);
  Words words(count);
  for (std::uint32_t& w : words) w = word(normal(random));
  return words;
}

// --- public faults with a minimal input ------------------------------------------------------------------------------

TEST(PublicFaults, FlydslE2m3ScaleOneStepLow) {
  EXPECT_EQ(encoded(named("mxfp6-e2m3/ocp"), {word(1.0F)}).scale, 125);
  EXPECT_EQ(encoded(with_rule("mxfp6-e2m3/ocp", ScaleRule::even), {word(1.0F)}).scale, 125);
}

TEST(PublicFaults, MlxBackendsWithTwoScales) {
  const EncodedBlock rceil = encoded(named("mxfp8-e4m3/rceil"), {word(600.0F)});
  EXPECT_EQ(rceil.scale, 128);
  EXPECT_EQ(rceil.codes[0], 0x79);
  const EncodedBlock nearest = encoded(with_rule("mxfp8-e4m3/ocp", ScaleRule::nearest), {word(600.0F)});
  EXPECT_EQ(nearest.scale, 127);
  EXPECT_EQ(nearest.codes[0], 0x7E);
}

TEST(PublicFaults, Microxcaling957) {
  const Words input = {word(960.0F), word(957.0F)};
  const EncodedBlock floor = encoded(named("mxfp8-e4m3/ocp"), input);
  EXPECT_EQ(floor.scale, 128);
  EXPECT_EQ(floor.codes[1], 0x7E);
  EXPECT_EQ(decode_block(named("mxfp8-e4m3/ocp"), floor)[1], word(896.0F));
  const EncodedBlock rceil = encoded(named("mxfp8-e4m3/rceil"), input);
  EXPECT_EQ(rceil.scale, 129);
  EXPECT_EQ(rceil.codes[1], 0x77);
  EXPECT_EQ(decode_block(named("mxfp8-e4m3/rceil"), rceil)[1], word(960.0F));
}

TEST(PublicFaults, InexactPowerOfTwo65536) {
  const EncodedBlock block = encoded(named("mxfp4/ocp"), {word(65536.0F)});
  EXPECT_EQ(block.scale, 141);
  EXPECT_EQ(decode_block(named("mxfp4/ocp"), block)[0], word(65536.0F));
}

TEST(PublicFaults, TorchaoFirstElementInTheHighNibble) {
  const EncodedBlock block = encoded(named("mxfp4/ocp"), {word(0.5F), word(6.0F)});
  EXPECT_EQ(block.scale, 127);
  EXPECT_EQ(block.codes[0] | (block.codes[1] << 4), 0x71);
}

/// Rounding a scale up to a power of two, asked through blocks whose amax is four times that scale.
TEST(PublicFaults, OnnxScaleRoundedUp) {
  const Profile ceil = named("mxfp4/ceil");
  EXPECT_EQ(encoded(ceil, {word(4 * 1.125F)}).scale, 128);
  EXPECT_EQ(encoded(ceil, {word(4 * 1.25F)}).scale, 128);
  EXPECT_EQ(encoded(ceil, {word(4 * 5.0F)}).scale, 130);
  EXPECT_EQ(encoded(ceil, {word(0x1p-125F)}).scale, 0);
}

TEST(PublicFaults, MlDtypesNearestScaleTiesToEven) {
  const Profile nearest = named("mxfp4/nearest");
  EXPECT_EQ(encoded(nearest, {word(6 * 3.0F)}).scale, 0x80);
  EXPECT_EQ(encoded(nearest, {word(6 * 0.75F)}).scale, 0x7E);
}

TEST(PublicFaults, NanScaleDecodesToNan) {
  for (const char* name : {"mxfp4/ocp", "mxfp8-e4m3/ocp", "mxfp8-e5m2/ocp"}) {
    EXPECT_EQ(decoded_front(named(name), 0xFF, 1), quiet_nan);
    EXPECT_EQ(decoded_front(named(name), 0xFF, 0), quiet_nan);
  }
  EXPECT_EQ(decoded_front(named("hif4/gcc"), 0xFF, 0), quiet_nan);
  EXPECT_EQ(decoded_front(named("nvfp4/direct"), 0x7F, 0), quiet_nan);
}

TEST(PublicFaults, ScaleCodeZeroIsTwoToTheMinus127) {
  EXPECT_EQ(decoded_front(named("mxfp8-e4m3/ocp"), 0, 0x38), 0x00400000U);
  EXPECT_EQ(decoded_front(named("mxfp4/ocp"), 0, 0x2), 0x00400000U);
  EXPECT_EQ(decoded_front(named("mxfp4/ocp"), 254, 0x2), 0x7F000000U);
  EXPECT_EQ(decoded_front(named("mxfp4/ocp"), 254, 0x7), infinity);
}

TEST(PublicFaults, NanAnywhereGivesTheNanScale) {
  for (std::size_t position = 0; position < 32; ++position) {
    Words input = random_words(32, 7);
    input[position] = 0xFF800001U;  // negative and signalling
    const EncodedBlock block = encode_block(named("mxfp4/ocp"), input);
    EXPECT_EQ(block.scale, 0xFF);
    EXPECT_EQ(block.codes, Codes(32, 0));
  }
}

TEST(PublicFaults, TenstorrentRoundTripAndSticky) {
  for (const char* name : {"mxfp4/ocp", "mxfp8-e4m3/ocp", "mxfp8-e5m2/ocp", "mxfp6-e2m3/ocp", "mxfp6-e3m2/ocp"}) {
    const Profile profile = named(name);
    const ElementSpec spec = element_spec(profile.element);
    for (int code = 0; code <= spec.max_code; ++code) {
      const auto negative = static_cast<std::uint8_t>(code | spec.sign_mask());
      EncodedBlock block = encoded(profile, {});
      block.scale = 100;
      block.codes = Codes(32, 0);
      block.codes[0] = spec.max_code;
      block.codes[1] = static_cast<std::uint8_t>(code);
      block.codes[2] = negative;
      EXPECT_EQ(encode_block(profile, decode_block(profile, block)), block) << name << " " << code;
    }
  }
  EXPECT_EQ(encoded(named("mxfp4/ocp"), {word(4.0F), 0x3E800001U}).codes[1], 1);
  EXPECT_EQ(encoded(named("mxfp4/ocp"), {word(4.0F), 0x3E800000U}).codes[1], 0);
}

TEST(PublicFaults, ScaleBytesAreExponentsWithBias127) {
  EXPECT_EQ(decoded_front(named("mxfp4/ocp"), 134, 0x2), word(128.0F));
  EXPECT_EQ(decoded_front(named("mxfp4/ocp"), 120, 0x2), word(0x1p-7F));
  EXPECT_EQ(decoded_front(named("mxfp4/ocp"), 127, 0x2), word(1.0F));
}

TEST(PublicFaults, RocmTinyInputs) {
  const Rational tiny = *value_of(binary64, std::bit_cast<std::uint64_t>(1e-60));
  EXPECT_EQ(select_e8m0(named("mxfp4/ocp"), tiny), 0);
  EXPECT_EQ(encode_magnitude(Element::e5m2, Rounding::rne, float_value(word(3.3e-24F))), 0);
}

TEST(PublicFaults, StochasticRoundingWithStatedBits) {
  const Profile profile = named("mxfp4/rceil-sr8");
  Words input = block_of(profile, {word(6.0F), word(0.25F), word(-2.75F), word(1.5F)});
  EXPECT_EQ(front(encode_block(profile, input, Words(32, 0)), 4), (Codes{7, 0, 0xC, 3}));
  EXPECT_EQ(front(encode_block(profile, input, Words(32, 0xFFFFFFFFU)), 4), (Codes{7, 1, 0xD, 3}));
  EXPECT_EQ(front(encode_block(profile, input, Words(32, 0x7FFFFFFFU)), 4), (Codes{7, 0, 0xD, 3}));
  EXPECT_EQ(front(encode_block(profile, input, Words(32, 0x80000000U)), 4), (Codes{7, 1, 0xD, 3}));
}

TEST(PublicFaults, RocmE4m3ScaleIsNoExponent) {
  EXPECT_EQ(decoded_front(named("nvfp4/direct"), 0x39, 0x2), word(1.125F));
  EXPECT_EQ(decoded_front(named("nvfp4/direct"), 0x39, 0x8), minus_zero);
  EXPECT_EQ(decoded_front(named("mxfp4/ocp"), 0x39, 0x8), minus_zero);
}

TEST(PublicFaults, TritonAndTorchaoDiffer) {
  Words input;
  for (int i = 0; i < 4; ++i)
    for (const float value : {6.0F, 0.0F, 0.24F, 0.25F, 0.75F, 0.99F, 1.2F, 1.3F}) input.push_back(word(value));
  const EncodedBlock block = encode_block(named("mxfp4/ocp"), input);
  EXPECT_EQ(block.scale, 127);
  EXPECT_EQ(front(block, 8), (Codes{7, 0, 0, 0, 2, 2, 2, 3}));
}

// --- policies --------------------------------------------------------------------------------------------------------

TEST(Policies, InfinitySaturates) {
  Profile profile = named("mxfp4/ocp");
  profile.inf = InfPolicy::saturate;
  const EncodedBlock block = encoded(profile, {infinity, minus_infinity, word(-1.0F), word(0x1p127F)});
  EXPECT_EQ(block.scale, 254);
  EXPECT_EQ(front(block, 4), (Codes{7, 0xF, 8, 2}));
  profile.family = Family::hif4;
  profile.element = Element::s1p2;
  profile.block = {1, 64};
  const EncodedBlock hif4 = encoded(profile, {infinity, minus_infinity, 0, 0, word(49152.0F)});
  EXPECT_EQ(hif4.scale, 0xFE);
  EXPECT_EQ(hif4.level2, (Codes{1, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(front(hif4, 2), (Codes{7, 0xF}));
  EXPECT_EQ(hif4.level3[0], 1);
  EXPECT_EQ(hif4.level3[1], 0);
  EXPECT_EQ(hif4.codes[4], 2);  // 49152 / (49152 * 2) = 1/2
}

TEST(Policies, NanIsIgnoredOrRefused) {
  Profile profile = named("mxfp4/ocp");
  profile.nan = NanPolicy::ignore;
  const EncodedBlock block = encoded(profile, {0xFFC00000U, word(6.0F), minus_zero});
  EXPECT_EQ(block.scale, 127);
  EXPECT_EQ(front(block, 3), (Codes{0, 7, 8}));
  EXPECT_EQ(encoded(profile, {quiet_nan, infinity}).scale, 0xFF);
  profile.nan = NanPolicy::error;
  EXPECT_TRUE(encoded(profile, {quiet_nan}).rejected);
  profile.inf = InfPolicy::error;
  EXPECT_TRUE(encoded(profile, {infinity}).rejected);
  EXPECT_FALSE(encoded(profile, {word(1.0F)}).rejected);
}

TEST(Policies, NanPolicyComesFirst) {
  Profile profile = named("mxfp4/ocp");
  profile.inf = InfPolicy::error;
  EXPECT_FALSE(encoded(profile, {quiet_nan, infinity}).rejected);
  EXPECT_EQ(encoded(profile, {quiet_nan, infinity}).scale, 0xFF);
}

TEST(Policies, ZeroScaleOfTriton) {
  const EncodedBlock block =
      encoded(named("mxfp4/triton-round-up"), {quiet_nan, 0xFFC00000U, infinity, word(-3.0F), word(3.0F)});
  EXPECT_EQ(block.scale, 0);
  EXPECT_EQ(front(block, 5), (Codes{7, 0xF, 0xF, 8, 0}));
}

TEST(Policies, SignsOfZero) {
  const Words input = {word(4.0F), minus_zero, word(-0.1F), word(-0x1p-149F)};
  Profile profile = named("mxfp4/ocp");
  const auto zero_codes = [&](ZeroSign sign) {
    profile.zero_sign = sign;
    return front(encoded(profile, input), 4);
  };
  EXPECT_EQ(zero_codes(ZeroSign::kept), (Codes{6, 8, 8, 8}));
  EXPECT_EQ(zero_codes(ZeroSign::dropped), (Codes{6, 0, 0, 0}));
  EXPECT_EQ(zero_codes(ZeroSign::zero_input_dropped), (Codes{6, 0, 8, 8}));
  EXPECT_EQ(zero_codes(ZeroSign::zero_scaled_dropped), (Codes{6, 0, 8, 8}));
  profile.zero_sign = ZeroSign::zero_scaled_dropped;
  EXPECT_EQ(front(encoded(profile, {word(8.0F), word(-0x1p-149F)}), 2), (Codes{6, 0}));  // 2^-150 ties to zero
  EXPECT_EQ(front(encoded(profile, {word(8.0F), word(-0x1.8p-148F)}), 2), (Codes{6, 8}));
}

TEST(Policies, TinyBlocks) {
  Profile profile = named("mxfp4/ocp");
  const Words input = {0x00400000U, 0x80200000U};  // 2^-127, -2^-128
  EXPECT_EQ(front(encoded(profile, input), 2), (Codes{2, 9}));
  profile.tiny = TinyPolicy::flush_block;
  EXPECT_EQ(front(encoded(profile, input), 2), (Codes{0, 8}));
  profile.tiny = TinyPolicy::flush_inputs;
  profile.zero_scale_code = 127;
  EXPECT_EQ(encoded(profile, input).scale, 127);
  EXPECT_EQ(front(encoded(profile, input), 2), (Codes{0, 8}));
  EXPECT_EQ(front(encoded(profile, {0x00800000U, 0x807FFFFFU}), 2), (Codes{4, 8}));
}

TEST(Policies, FlushedAndIgnoredTogether) {
  Profile profile = named("mxfp4/ocp");
  profile.nan = NanPolicy::ignore;
  profile.tiny = TinyPolicy::flush_block;
  EXPECT_EQ(front(encoded(profile, {0xFFC00000U, 0x80200000U}), 2), (Codes{0, 8}));
  profile.inf = InfPolicy::saturate;
  profile.inf_scale_code = 0;
  EXPECT_EQ(front(encoded(profile, {minus_infinity, infinity, word(-1.0F)}), 3), (Codes{8, 0, 8}));
  Profile nvfp4 = named("nvfp4/direct");
  nvfp4.nan = NanPolicy::ignore;
  EXPECT_EQ(front(encoded(nvfp4, {0xFFC00000U, word(-0x1p-20F)}), 2), (Codes{0, 8}));
}

/// Only codes 0..254 are scales, whatever the word says: amax / 1.5 just under 2^128 would round up to code 255.
TEST(Policies, WordRuleClampsBelowTheNanCode) {
  Profile profile = named("mxfp4/triton-round-up");
  profile.element = Element::s1p1;
  EXPECT_EQ(encoded(profile, {0x7F7FFFFFU}).scale, 254);
}

TEST(Policies, DoubleRoundingThroughBf16) {
  Profile profile = named("mxfp4/ocp");
  const Words input = {word(4.0F), word(0.2501F)};
  EXPECT_EQ(front(encoded(profile, input), 2), (Codes{6, 1}));
  profile.element_arithmetic = ElementArithmetic::bf16;  // 0.2501 becomes 0.25, a tie to even
  EXPECT_EQ(front(encoded(profile, input), 2), (Codes{6, 0}));
  profile.element_arithmetic = ElementArithmetic::exact;
  profile.input_rounding = InputRounding::bf16;
  EXPECT_EQ(front(encoded(profile, input), 2), (Codes{6, 0}));
  EXPECT_EQ(encoded(profile, {0x7F7FFFFFU}).scale, 0xFF);  // rounds to infinity
}

// --- HiF4 ------------------------------------------------------------------------------------------------------------

TEST(Hif4, AllZeroAndClamps) {
  const Profile profile = named("hif4/gcc");
  const EncodedBlock zero = encoded(profile, {minus_zero});
  EXPECT_EQ(zero.scale, 0);
  EXPECT_EQ(zero.codes, Codes(64, 0));
  const EncodedBlock huge = encoded(profile, {0x7F7FFFFFU, word(-1.0F)});
  EXPECT_EQ(huge.scale, 0xFE);
  EXPECT_EQ(front(huge, 2), (Codes{7, 8}));
  EXPECT_EQ(decode_block(profile, huge)[0], word(344064.0F));
}

/// amax 7 wants the scale 7 * bf16(1/7), which rounds to 1. Every level of S1P2 stands under each of the four pairs of
/// micro-exponents, below one element of the largest code that sets the bits, and comes back.
TEST(Hif4, CodebookUnderEveryMicroExponent) {
  const Profile profile = named("hif4/gcc");
  EncodedBlock expected = encoded(profile, {});
  expected.scale = 0xC0;
  expected.level2 = {1, 0, 1, 1, 0, 0, 1, 0};
  expected.level3 = {1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1, 0};
  std::array<int, 4> next_code{};
  for (std::size_t i = 0; i < 64; ++i) {
    const auto pair = static_cast<std::size_t>(2 * expected.level2[i / 8] + expected.level3[i / 4]);
    const int code = i % 4 == 0 ? 7 : next_code[pair]++ % 8;
    expected.codes[i] = static_cast<std::uint8_t>(i % 3 == 0 && code != 0 ? code | 8 : code);
  }
  for (const int count : next_code) ASSERT_GE(count, 8);
  const Words words = decode_block(profile, expected);
  for (std::size_t i = 0; i < 64; ++i) {
    const double magnitude =
        std::ldexp(0.25 * (expected.codes[i] & 7), expected.level2[i / 8] + expected.level3[i / 4]);
    EXPECT_EQ(words[i] & 0x7FFFFFFFU, word(static_cast<float>(magnitude)));
  }
  EXPECT_EQ(encode_block(profile, words), expected);
}

TEST(Hif4, ScaleBytesInBothOrders) {
  EncodedBlock block = encoded(named("hif4/gcc"), {});
  block.scale = 0xC1;
  block.level2 = {1, 0, 0, 0, 0, 0, 1, 0};
  block.level3 = {1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  EXPECT_EQ(hif4_scale_bytes(named("hif4/gcc"), block), (Codes{0xC1, 0x41, 0x03, 0x80}));
  EXPECT_EQ(hif4_scale_bytes(named("hif4/amct"), block), (Codes{0xC1, 0x82, 0xC0, 0x01}));
}

TEST(Hif4, ElementTies) {
  const Words input = {word(7.0F), 0, 0, 0, 0, 0, 0, 0, word(0.125F), word(-0.125F), word(1.625F), word(0.375F)};
  EXPECT_EQ(encoded(named("hif4/gcc"), input).scale, 0xC0);
  const Codes away = encoded(named("hif4/gcc"), input).codes;
  EXPECT_EQ((Codes{away.begin() + 8, away.begin() + 12}), (Codes{1, 9, 7, 2}));
  const Codes even = encoded(named("hif4/pto-a6"), input).codes;
  EXPECT_EQ((Codes{even.begin() + 8, even.begin() + 12}), (Codes{0, 8, 6, 2}));
}

// --- 2D tiles --------------------------------------------------------------------------------------------------------

Words transposed(const Words& tile, std::size_t side) {
  Words result(tile.size());
  for (std::size_t r = 0; r < side; ++r)
    for (std::size_t c = 0; c < side; ++c) result[c * side + r] = tile[r * side + c];
  return result;
}

TEST(Tiles, QuantizingTheTransposeGivesTheTranspose) {
  for (const char* name : {"mxfp4-2d/rceil", "mxfp4-2d/ocp", "hif4-2d/gcc", "hif4-2d/amct", "hif4-2d/exact"}) {
    const Profile profile = named(name);
    const std::size_t side = profile.block.cols;
    const Words tile = random_words(side * side, 11);
    const Words a = decode_block(profile, encode_block(profile, tile));
    const Words b = decode_block(profile, encode_block(profile, transposed(tile, side)));
    EXPECT_EQ(transposed(a, side), b) << name;
  }
}

TEST(Tiles, RowsDecodeAsOrdinaryBlocks) {
  for (const char* name : {"mxfp4-2d/rceil", "hif4-2d/gcc"}) {
    const Profile profile = named(name);
    Profile row_profile = profile;
    row_profile.block = {1, profile.block.cols};
    const EncodedBlock tile = encode_block(profile, random_words(static_cast<std::size_t>(profile.block.size()), 12));
    Words rows;
    for (int r = 0; r < profile.block.rows; ++r) {
      const Words one = decode_block(row_profile, block_row(profile, tile, r));
      rows.insert(rows.end(), one.begin(), one.end());
    }
    EXPECT_EQ(rows, decode_block(profile, tile)) << name;
  }
}

TEST(Tiles, Hif4CellsAreEightByEightAndFourByFour) {
  const Profile profile = named("hif4-2d/gcc");
  Words tile(64 * 64, 0);
  tile[0] = word(7.0F);
  tile[9 * 64 + 17] = word(4.5F);  // level-2 cell (1, 2), level-3 cell (2, 4)
  const EncodedBlock block = encode_block(profile, tile);
  Codes level2(64, 0);
  level2[0] = level2[1 * 8 + 2] = 1;
  Codes level3(256, 0);
  level3[0] = level3[2 * 16 + 4] = 1;
  EXPECT_EQ(block.level2, level2);
  EXPECT_EQ(block.level3, level3);
}

// --- NVFP4 -----------------------------------------------------------------------------------------------------------

TEST(Nvfp4, BlockAndTensorScales) {
  const Profile direct = named("nvfp4/direct");
  const EncodedBlock block = encoded(direct, {word(6.75F), word(-0.28125F), word(0.2813F)});
  EXPECT_EQ(block.scale, 0x39);  // 6.75 / 6 = 1.125
  EXPECT_EQ(front(block, 3), (Codes{7, 8, 1}));
  EXPECT_EQ(encoded(direct, {word(0x1p-20F)}).scale, 0);
  EXPECT_EQ(front(encoded(direct, {word(-0x1p-20F)}), 1), (Codes{8}));
  EXPECT_EQ(encoded(direct, {word(1e6F)}).scale, 0x7E);
  EXPECT_EQ(front(encoded(direct, {word(1e6F)}), 1), (Codes{7}));
  const Profile scaled = named("nvfp4/tensor-scale");
  EXPECT_EQ(tensor_scale_word(direct, Words{word(2688.0F)}), word(1.0F));
  EXPECT_EQ(tensor_scale_word(scaled, Words{word(-5376.0F), infinity}), word(2.0F));
  EXPECT_EQ(tensor_scale_word(scaled, Words{0}), word(1.0F));
  EXPECT_EQ(tensor_scale_word(scaled, Words{1}), word(1.0F));
  const EncodedBlock top = encode_block(scaled, block_of(scaled, {word(-5376.0F), word(1792.0F)}), {}, word(2.0F));
  EXPECT_EQ(top.scale, 0x7E);
  EXPECT_EQ(front(top, 2), (Codes{0xF, 4}));
  EXPECT_EQ(decode_block(scaled, top, word(2.0F))[0], word(-5376.0F));
}

}  // namespace
}  // namespace fp4proof::exact
