// Faults that were reported in public, each with the right answer typed by hand, asked of both roads. docs/wild-bugs.md
// tells what went wrong in each. Verifiers that let faults pass are the business of verify_test.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "conformance/suite/case_class.h"
#include "formats/block_codec.h"
#include "formats/packing.h"
#include "formats/scale_layout.h"
#include "formats/spec_profiles.h"
#include "reference/exact/block.h"
#include "reference/portable/dequantize.h"
#include "reference/portable/quantize.h"

namespace fp4proof {
namespace {

using Codes = std::vector<int>;
using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t nan_word = 0x7FC00000U;

const Profile& profile_named(std::string_view name) {
  const Profile* profile = find_profile(name);
  if (profile == nullptr) throw std::runtime_error("no profile " + std::string(name));
  return *profile;
}

Words words_of(const std::vector<float>& values) {
  Words words;
  for (const float value : values) words.push_back(float_bits(value));
  return words;
}

/// A row of one block: the words, then zeros.
Words block_of(const Profile& profile, Words words) {
  words.resize(profile.block.cols, 0);
  return words;
}

int code_at(const Profile& profile, const std::vector<std::uint8_t>& bytes, std::size_t index) {
  if (!element_spec(profile.element).is_nibble()) return bytes[index];
  return bytes[index / 2] >> (4 * (index % 2)) & 15;
}

portable::Quantized quantize(const Profile& profile, const Words& words, std::vector<std::int64_t> shape,
                             portable::Tail tail = portable::Tail::error) {
  portable::QuantizeOptions options;
  options.tail = tail;
  const auto* data = reinterpret_cast<const std::byte*>(words.data());
  Result<portable::Quantized> quantized = portable::quantize(profile, {portable::DType::f32, shape, data}, options);
  if (!quantized) throw std::runtime_error(quantized.error().message);
  return std::move(*quantized);
}

/// Both roads give this scale byte and these first codes.
void expect_block(const Profile& profile, const Words& first, int scale, const Codes& codes) {
  const Words words = block_of(profile, first);
  const exact::EncodedBlock oracle = exact::encode_block(profile, words);
  const portable::Quantized fast = quantize(profile, words, {1, static_cast<std::int64_t>(words.size())});
  EXPECT_EQ(oracle.scale, scale) << profile.name;
  EXPECT_EQ(fast.scales[0], scale) << profile.name;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    EXPECT_EQ(oracle.codes[i], codes[i]) << profile.name << " oracle, element " << i;
    EXPECT_EQ(code_at(profile, fast.codes, i), codes[i]) << profile.name << " portable, element " << i;
  }
}

void expect_block(std::string_view profile, const std::vector<float>& values, int scale, const Codes& codes) {
  expect_block(profile_named(profile), words_of(values), scale, codes);
}

/// Both roads decode the first codes of a block under this scale byte to these words.
void expect_decoded(std::string_view name, const Codes& codes, int scale, const Words& expected) {
  const Profile& profile = profile_named(name);
  exact::EncodedBlock block;
  block.scale = static_cast<std::uint8_t>(scale);
  block.codes.assign(codes.begin(), codes.end());
  block.codes.resize(profile.block.cols, 0);
  block.level2.assign(8, 0);
  block.level3.assign(16, 0);
  const Words oracle = exact::decode_block(profile, block);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(oracle[i], expected[i]) << name << " oracle, element " << i;
    const float fast =
        decode_block_element(profile, static_cast<std::uint32_t>(scale), 1.0F, static_cast<int>(i), block.codes[i]);
    EXPECT_EQ(float_bits(fast), expected[i]) << name << " portable, element " << i;
  }
}

void expect_class(std::string_view name) { EXPECT_NE(suite::find_class(name), nullptr) << name; }

TEST(WildBugs, FlyDsl590ScaleOneStepLow) {
  expect_class("wild-flydsl-590");
  expect_block("mxfp6-e2m3/ocp", {1.0F, 0.5F, -0.25F, 0.9375F}, 125, {0x18, 0x10, 0x28, 0x17});
  expect_block("mxfp6-e2m3/rceil", {1.0F, 0.5F, -0.25F, 0.9375F}, 125, {0x18, 0x10, 0x28, 0x17});
}

TEST(WildBugs, Mlx4353ScaleToNearestClips) {
  expect_class("wild-mlx-4353");
  expect_block("mxfp8-e4m3/rceil", {600.0F}, 128, {0x79});
}

TEST(WildBugs, Microxcaling4ClippingIsRightUnderFloor) {
  expect_class("wild-microxcaling-4");
  expect_block("mxfp8-e4m3/ocp", {960.0F, 957.0F, -957.0F}, 128, {0x7E, 0x7E, 0xFE});
  expect_block("mxfp8-e4m3/rceil", {960.0F, 957.0F, -957.0F}, 129, {0x77, 0x77, 0xF7});
}

TEST(WildBugs, Microxcaling11PowersOfTwoAreExact) {
  expect_class("wild-microxcaling-11");
  expect_block("mxfp4/ocp", {65536.0F, 32768.0F, -49152.0F}, 141, {6, 4, 13});
  expect_decoded("mxfp4/ocp", {6}, 141, {0x47800000U});
}

TEST(WildBugs, Ao2939FirstElementInTheLowNibble) {
  expect_class("wild-ao-2939");
  const Profile& profile = profile_named("mxfp4/ocp");
  const portable::Quantized q = quantize(profile, block_of(profile, words_of({0.5F, 6.0F})), {1, 32});
  EXPECT_EQ(q.scales[0], 127);
  EXPECT_EQ(q.codes[0], 0x71);
  expect_block("mxfp4/ocp", {0.5F, 6.0F}, 127, {1, 7});
}

TEST(WildBugs, Triton5197UpcastTakesTheLowNibbleFirst) {
  expect_class("wild-triton-5197");
  const Profile& profile = profile_named("mxfp4/ocp");
  portable::Quantized q = quantize(profile, Words(32, 0), {1, 32});
  q.codes[0] = 0x71;
  q.scales[0] = 127;
  const std::vector<float> values = portable::dequantize(profile, q);
  EXPECT_EQ(values[0], 0.5F);
  EXPECT_EQ(values[1], 6.0F);
}

TEST(WildBugs, Onnx7784RoundingUpToAPowerOfTwo) {
  expect_class("wild-onnx-7784");
  expect_block("mxfp4/ceil", {1.125F * 4}, 128, {4});
  expect_block("mxfp4/ceil", {1.25F * 4}, 128, {4});
  expect_block("mxfp4/ceil", {5.0F * 4}, 130, {4});
  expect_block("mxfp4/ceil", {0x1p-125F}, 0, {6});
}

TEST(WildBugs, MlDtypes298NearestPowerTiesToEven) {
  expect_class("wild-ml-dtypes-298");
  expect_block("mxfp4/nearest", {3.0F * 6}, 0x80, {7});
  expect_block("mxfp4/nearest", {0.75F * 6}, 0x7E, {7});
}

TEST(WildBugs, Llvm214919NanScaleIsNotInfinity) {
  expect_class("wild-llvm-214919");
  expect_decoded("mxfp4/ocp", {2, 10, 0}, 255, {nan_word, nan_word, nan_word});
}

TEST(WildBugs, TransformerEngine3262ScaleZeroIsSubnormal) {
  expect_class("wild-transformer-engine-3262");
  expect_decoded("mxfp8-e4m3/ocp", {0x38, 0xB8}, 0, {0x00400000U, 0x80400000U});
  expect_decoded("mxfp8-e4m3/ocp", {0x38}, 255, {nan_word});
  EXPECT_EQ(float_to_bf16(float_from_bits(0x00400000U)), 0x0040);
}

TEST(WildBugs, Ao4201NanInABlock) {
  expect_class("wild-ao-4201");
  for (const std::size_t place : {std::size_t{0}, std::size_t{15}, std::size_t{16}, std::size_t{31}}) {
    Words words(32, float_bits(1.0F));
    words[place] = 0xFFC00000U;
    expect_block(profile_named("mxfp4/ocp"), words, 255, Codes(32, 0));
  }
}

TEST(WildBugs, FlashInfer3387SubnormalsAndNearTies) {
  expect_class("wild-flashinfer-3387");
  expect_block("mxfp4/rceil", {6.0F * 0x1p-127F, 0x1p-127F}, 0, {7, 2});
  expect_block("mxfp4/rceil", {0x1p-149F, 0x1p-149F}, 0, {0, 0});
  expect_block("mxfp4/rceil", {0x1.800002p-125F, 0x1p-140F}, 1, {5, 0});
  expect_block("mxfp4/rceil", {6.0F, 2.5F, 0x1.400002p+1F, 0x1.3ffffep+1F}, 127, {7, 4, 5, 4});
}

TEST(WildBugs, TtMetal51971StickyBit) {
  expect_class("wild-tt-metal-51971");
  expect_block(profile_named("mxfp4/ocp"), {0x40C00000U, 0x3E800001U, 0x3E800000U, 0x3E7FFFFFU}, 127, {7, 1, 0, 0});
}

// 132 of 256 E4M3 codes did not survive decode and encode.
TEST(WildBugs, TtMetal51971EveryCodeSurvivesARoundTrip) {
  int survived = 0;
  for (const char* name : {"mxfp4/ocp", "mxfp8-e4m3/ocp", "mxfp8-e5m2/ocp", "mxfp6-e2m3/ocp", "mxfp6-e3m2/ocp"}) {
    const Profile& profile = profile_named(name);
    const ElementSpec spec = element_spec(profile.element);
    for (int code = 0; code < 1 << spec.bits(); ++code) {
      if ((code & (spec.sign_mask() - 1)) > spec.max_code) continue;
      // The largest code holds the scale at one.
      const Words words = {float_bits(decode_element(profile.element, spec.max_code)),
                           float_bits(decode_element(profile.element, static_cast<std::uint8_t>(code)))};
      expect_block(profile, words, 127, {spec.max_code, code});
      ++survived;
    }
  }
  EXPECT_EQ(survived, 16 + 254 + 248 + 64 + 64);
}

TEST(WildBugs, SgLang25519NanTestOnTheCode) {
  expect_class("wild-sglang-25519");
  expect_decoded("mxfp4/ocp", {2}, 134, {0x43000000U});
  expect_decoded("mxfp4/ocp", {2}, 255, {nan_word});
}

TEST(WildBugs, CompressedTensors538ScaleBias) {
  expect_class("wild-compressed-tensors-538");
  expect_block("mxfp4/ocp", {4.0F, 1.0F}, 127, {6, 2});
}

TEST(WildBugs, Omlx2159ScaleByteIsAnExponent) {
  expect_class("wild-omlx-2159");
  expect_decoded("mxfp4/ocp", {2}, 120, {0x3C000000U});
}

TEST(WildBugs, RocmSystems2461TinyMaximumDoesNotWrap) {
  expect_class("wild-rocm-systems-2461");
  expect_block("mxfp4/ocp", {0x1p-149F}, 0, {0});
  expect_block("mxfp4/ocp", {static_cast<float>(1e-60)}, 0, {0});
}

TEST(WildBugs, RocmSystems10593DeepUnderflowIsZero) {
  expect_class("wild-rocm-systems-10593");
  expect_block("mxfp8-e5m2/ocp", {32768.0F, 3.3e-24F, -3.3e-24F, 1e-38F}, 127, {0x78, 0x00, 0x80, 0x00});
}

TEST(WildBugs, Triton10618OddExtentsNeverShrink) {
  expect_class("odd-widths");
  const Profile& profile = profile_named("mxfp4/ocp");
  const Words words(32, float_bits(1.0F));
  const portable::Quantized q = quantize(profile, words, {32, 1}, portable::Tail::pad);
  EXPECT_EQ(q.geometry.codes_shape(), (std::vector<std::int64_t>{32, 16}));
  EXPECT_EQ(portable::dequantize(profile, q), std::vector<float>(32, 1.0F));
  const std::array<std::int64_t, 2> shape = {32, 1};
  EXPECT_FALSE(portable::cut_into_blocks(profile, shape, -1, portable::Tail::error).ok());
}

// aiter#5233, FlyDSL#932: each output names the scale it was given.
TEST(WildBugs, Aiter5233EveryBlockHasItsOwnScale) {
  expect_class("scale-layout");
  const Profile& profile = profile_named("mxfp4/ocp");
  Words words;
  for (int block = 0; block < 12; ++block) words.insert(words.end(), 32, float_bits(std::ldexp(1.0F, block)));
  const portable::Quantized q = quantize(profile, words, {4, 96});
  for (std::size_t block = 0; block < 12; ++block) EXPECT_EQ(q.scales[block], 125 + block);
  EXPECT_EQ(portable::dequantize(profile, q)[4 * 32 + 7], 16.0F);
}

TEST(WildBugs, CudaSamples248TiledScalePlace) {
  expect_class("wild-cuda-samples-248");
  EXPECT_EQ(scale_offset(ScaleLayout::tiled_128x4, {128, 4, 1}, 33, 2), 22U);
  EXPECT_EQ(scale_offset(ScaleLayout::tiled_128x4, {256, 8, 1}, 0, 4), 512U);
  EXPECT_EQ(scale_offset(ScaleLayout::tiled_128x4, {256, 8, 1}, 128, 0), 1024U);
}

// Scales that stand in padding must not be read: a buffer full of poison gives the same scales back.
TEST(WildBugs, PoisonedScalePaddingDoesNotMatter) {
  const ScaleGrid grid = {33, 3, 1};
  std::vector<std::uint8_t> buffer(scale_buffer_bytes(ScaleLayout::tiled_128x4, grid), 0xA5);
  ASSERT_EQ(buffer.size(), 512U);
  for (std::size_t r = 0; r < 33; ++r) {
    for (std::size_t c = 0; c < 3; ++c) {
      buffer[scale_offset(ScaleLayout::tiled_128x4, grid, r, c)] = static_cast<std::uint8_t>(3 * r + c);
    }
  }
  for (std::size_t r = 0; r < 33; ++r) {
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_EQ(buffer[scale_offset(ScaleLayout::tiled_128x4, grid, r, c)], 3 * r + c);
    }
  }
}

/// A block with stated random words, by both roads.
void expect_stochastic(std::string_view name, const std::vector<float>& values, const Words& random, int scale,
                       const Codes& codes) {
  const Profile& profile = profile_named(name);
  const Words words = block_of(profile, words_of(values));
  const Words padded = block_of(profile, random);
  const exact::EncodedBlock oracle = exact::encode_block(profile, words, padded);
  std::uint32_t fast_scale = 0;
  std::array<std::uint8_t, 32> fast_codes{};
  BlockEncoding io;
  io.words = words.data();
  io.random = padded.data();
  io.row_scales = &fast_scale;
  io.codes = fast_codes.data();
  ASSERT_EQ(encode_block(profile, io), BlockStatus::ok);
  EXPECT_EQ(oracle.scale, scale);
  EXPECT_EQ(fast_scale, static_cast<std::uint32_t>(scale));
  for (std::size_t i = 0; i < codes.size(); ++i) {
    EXPECT_EQ(oracle.codes[i], codes[i]) << name << " element " << i;
    EXPECT_EQ(fast_codes[i], codes[i]) << name << " element " << i;
  }
}

TEST(WildBugs, TransformerEngine3281StochasticRoundingMoves) {
  expect_class("wild-transformer-engine-3281");
  const std::vector<float> values = {6.0F, 2.5F, 2.5F, 3.0F, 2.001F, -2.999F, -2.001F, 0.25F};
  const Words random = {0xFFFFFFFFU, 0, 255U << 24, 0xFFFFFFFFU, 0, 255U << 24, 255U << 24, 0x80000000U};
  // 2.001 is 0.256 of 1/256 above 2: with 8 bits it never moves. 2.999 is 255.7 of 256 steps up: 255 moves it.
  expect_stochastic("mxfp4/rceil-sr8", values, random, 127, {7, 4, 5, 5, 4, 13, 12, 1});
}

TEST(WildBugs, RocmLibraries7439E4m3ScaleHasAMantissa) {
  expect_class("wild-rocm-libraries-7439");
  expect_decoded("nvfp4/direct", {2, 8, 10}, 0x39, {0x3F900000U, 0x80000000U, 0xBF900000U});
}

TEST(WildBugs, Triton6054WhichOneIsGolden) {
  expect_class("wild-triton-6054");
  std::vector<float> values;
  Codes codes;
  for (int k = 0; k < 4; ++k) {
    values.insert(values.end(), {6.0F, 0.0F, 0.24F, 0.25F, 0.75F, 0.99F, 1.2F, 1.3F});
    codes.insert(codes.end(), {7, 0, 0, 0, 2, 2, 2, 3});
  }
  expect_block("mxfp4/ocp", values, 127, codes);
}

TEST(WildBugs, SuperNpuBench122ElementsAreS1p2) {
  expect_class("dequantize-codebook");
  const std::array<float, 8> values = {0.0F, 0.25F, 0.5F, 0.75F, 1.0F, 1.25F, 1.5F, 1.75F};
  for (int code = 0; code < 8; ++code) {
    const float value = values[static_cast<std::size_t>(code)];
    expect_decoded("hif4/gcc", {code, code | 8}, 0xC0, {float_bits(value), float_bits(-value)});
  }
}

/// One HiF4 group with a single 7.0: the scale word and the code.
void expect_single(std::size_t place, std::uint32_t level2, std::uint32_t level3) {
  const Profile& profile = profile_named("hif4/gcc");
  Words words(64, 0);
  words[place] = float_bits(7.0F);
  const exact::EncodedBlock oracle = exact::encode_block(profile, words);
  const std::vector<std::uint8_t> expected = {0xC0, static_cast<std::uint8_t>(level2),
                                              static_cast<std::uint8_t>(level3 & 0xFFU),
                                              static_cast<std::uint8_t>(level3 >> 8)};
  EXPECT_EQ(exact::hif4_scale_bytes(profile, oracle), expected) << place;
  EXPECT_EQ(oracle.codes[place], 7);
  const portable::Quantized q = quantize(profile, words, {1, 64});
  EXPECT_EQ(q.scales, expected) << place;
  EXPECT_EQ(code_at(profile, q.codes, place), 7);
}

// An emulator grouped by i mod 8 in place of i div 8.
TEST(WildBugs, Hif4GroupsAreAdjacent) {
  expect_class("hif4-grouping");
  expect_single(0, 1U << 0, 1U << 0);
  expect_single(8, 1U << 1, 1U << 2);
  expect_single(33, 1U << 4, 1U << 8);
  expect_single(63, 1U << 7, 1U << 15);
}

TEST(WildBugs, Hif4MicroExponentsLsbFirst) {
  expect_class("hif4-single-bits");
  std::array<std::uint8_t, 4> bytes{};
  const std::uint32_t word = hif4_word(0xC0, 1U << 1, 1U << 2);
  store_hif4_word(MicroOrder::lsb_first, word, bytes.data());
  EXPECT_EQ(bytes, (std::array<std::uint8_t, 4>{0xC0, 0x02, 0x04, 0x00}));
  store_hif4_word(MicroOrder::msb_first, word, bytes.data());
  EXPECT_EQ(bytes, (std::array<std::uint8_t, 4>{0xC0, 0x40, 0x20, 0x00}));
}

/// The code of one value at level sum 0 under E6M2 = 1.
void expect_hif4_code(std::string_view name, float value, int code) {
  const Profile& profile = profile_named(name);
  Words words(64, 0);
  words[0] = float_bits(7.0F);
  words[32] = float_bits(value);
  EXPECT_EQ(exact::encode_block(profile, words).codes[32], code) << name << " " << value;
  EXPECT_EQ(code_at(profile, quantize(profile, words, {1, 64}).codes, 32), code) << name << " " << value;
}

TEST(WildBugs, Hif4ElementTies) {
  expect_class("ties");
  expect_hif4_code("hif4/gcc", 0.125F, 1);
  expect_hif4_code("hif4/exact", 0.125F, 0);
  expect_hif4_code("hif4/pto-a6", 0.125F, 0);
  expect_hif4_code("hif4/gcc", 0.375F, 2);
  expect_hif4_code("hif4/pto-a6", 0.375F, 2);
  expect_hif4_code("hif4/paper-bf16", 0.125F, 1);
}

TEST(WildBugs, Hif4ElementsThroughBf16) {
  expect_class("double-rounding-bf16");
  const float under_tie = 0.125F * (1.0F - 0x1p-10F);
  expect_hif4_code("hif4/gcc", under_tie, 0);
  expect_hif4_code("hif4/exact", under_tie, 0);
  expect_hif4_code("hif4/amct", under_tie, 1);
}

// tt-metal#49199: the golden skipped the rounding of its inputs. One field says whether inputs are rounded.
TEST(WildBugs, TtMetal49199GoldenSeesTheKernelsInputs) {
  Profile rounded = profile_named("mxfp4/ocp");
  rounded.input_rounding = InputRounding::bf16;
  const Words words = {0x40C00000U, 0x3E800001U};
  expect_block(rounded, words, 127, {7, 0});
  expect_block(profile_named("mxfp4/ocp"), words, 127, {7, 1});
}

// tt-llk#1588: subnormals were flushed in one operation and not in another. One field says it.
TEST(WildBugs, TtLlk1588OneFlushPolicy) {
  Profile flushing = profile_named("mxfp4/ocp");
  flushing.tiny = TinyPolicy::flush_inputs;
  const Words words = {float_bits(6.0F * 0x1p-127F), 0x00400000U};
  expect_block(profile_named("mxfp4/ocp"), words, 0, {7, 2});
  expect_block(flushing, words, 0, {7, 0});
}

}  // namespace
}  // namespace fp4proof
