// The block GEMM against sums worked out by hand: products of blocks, chunks, special values, extreme scales, models.

#include "reference/portable/gemm.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <string>
#include <vector>

#include "formats/philox.h"
#include "formats/spec_profiles.h"
#include "tests/unit/hand_operand.h"

namespace fp4proof::portable {
namespace {

using namespace hand;
using Accumulator::exact;
using Accumulator::seq;
using Accumulator::seq512;

// --- Block products --------------------------------------------------------------------------------------------------

TEST(Gemm, MultipliesRowsOfAWithRowsOfB) {
  const Operand a = operand("mxfp4/ocp", {{{one, {2, 4}}, {one, {5}}}, {{one + 1, {10}}, {one - 3, {0, 7}}}});
  const Operand b = operand("mxfp4/ocp", {{{one, {3, 1}}, {one, {6}}}, {{one, {0, 15}}, {one + 4, {4, 2}}}});
  // Row 0 of A: 1 2 | 3. Row 1: -2 | 0 0.75. Row 0 of B: 1.5 0.5 | 4. Row 1: 0 -6 | 32 16.
  const std::vector<float> expected = {1.5F + 1 + 12, -12.0F + 96, -3.0F, 12.0F};
  for (const Accumulator accumulator : accumulators) EXPECT_EQ(*multiply(a, b, accumulator), expected);
}

TEST(Gemm, FullBlocksOfTheLargestElements) {
  const auto full = [](const char* name, std::uint32_t scale, std::uint8_t code) {
    return operand(name, {{{scale, Codes(named(name).block.cols, code)}}});
  };
  const Operand mx = full("mxfp4/ocp", one, 7);
  EXPECT_EQ(single(mx, mx), word(32.0F * 36.0F));
  // All level bits set: 1.75 * 4 = 7. E6M2 0xC3 is 1.75, 0xC0 is 1.
  const Operand hif4 = full("hif4/gcc", 0xFFFFFFC0U, 7);
  const Operand hif4_scaled = full("hif4/gcc", 0xFFFFFFC3U, 15);
  EXPECT_EQ(single(hif4, hif4), word(3136.0F));
  EXPECT_EQ(single(hif4, hif4_scaled), word(-5488.0F));
  EXPECT_EQ(single(hif4_scaled, hif4_scaled), word(9604.0F));
  // 1.875 * 4 = 7.5 and 1.5 * 4 = 6.
  const Operand hifx5 = full("hifx5/gcc", 0xFFFFFFC0U, 15);
  const Operand hifx3 = full("hifx3/gcc", 0xFFFFFFC0U, 3);
  EXPECT_EQ(single(hifx5, hifx5), word(3600.0F));
  EXPECT_EQ(single(hifx5, hif4), word(3360.0F));
  EXPECT_EQ(single(hifx3, hifx5), word(2880.0F));
  const Operand e2m3 = full("mxfp6-e2m3/ocp", one, 31);
  const Operand e3m2 = full("mxfp6-e3m2/ocp", one, 31);
  EXPECT_EQ(single(e2m3, e2m3), word(1800.0F));
  EXPECT_EQ(single(e3m2, e2m3), word(6720.0F));
  EXPECT_EQ(single(e3m2, e3m2), word(25088.0F));
  const Operand nvfp4 = full("nvfp4/direct", 0x7E, 7);
  EXPECT_EQ(single(nvfp4, nvfp4), word(16.0F * 36.0F * 448.0F * 448.0F));
}

TEST(Gemm, LevelBitsScaleTheirOwnElements) {
  // Level-2 bit 1 covers elements 8..15, level-3 bit 3 elements 12..15. S1P2 code 4 is 1.
  Codes ones(64, 4);
  const Operand a = operand("hif4/gcc", {{{0xC0U | (1U << 9) | (1U << 19), ones}}});
  const auto pick = [](std::size_t i) {
    Codes codes(64, 0);
    codes[i] = 4;
    return operand("hif4/gcc", {{{0xC0, codes}}});
  };
  EXPECT_EQ(single(a, pick(7)), word(1.0F));
  EXPECT_EQ(single(a, pick(8)), word(2.0F));
  EXPECT_EQ(single(a, pick(12)), word(4.0F));
  EXPECT_EQ(single(a, pick(15)), word(4.0F));
  EXPECT_EQ(single(a, pick(16)), word(1.0F));
}

TEST(Gemm, MixedFormatsOfOneBlockLength) {
  // E4M3 0x38 is 1, 0x7E is 448; E5M2 0x3C is 1; E2M3 31 is 7.5.
  const Operand fp4 = operand("mxfp4/ocp", {{{one, {7, 3}}}});
  EXPECT_EQ(single(fp4, operand("mxfp8-e4m3/ocp", {{{one, {0x7E, 0x38}}}})), word(6.0F * 448.0F + 1.5F));
  EXPECT_EQ(single(operand("mxfp8-e5m2/ocp", {{{one, {0x7B, 0x3C}}}}), fp4), word(6.0F * 57344.0F + 1.5F));
  EXPECT_EQ(single(fp4, operand("mxfp6-e2m3/ocp", {{{one + 1, {31, 31 + 32}}}})), word(2 * (45.0F - 11.25F)));
}

TEST(Gemm, TileOfA2dProfileIsRowsOfOneScale) {
  const std::int64_t shape[] = {32, 32};
  std::vector<float> values(32 * 32, 1.5F);
  values[5] = -6.0F;
  const TensorView view = {DType::f32, shape, reinterpret_cast<const std::byte*>(values.data())};
  const Profile& profile = named("mxfp4-2d/ocp");
  const Quantized tile = *quantize(profile, view);
  const std::vector<float> c = *gemm(profile, tile, profile, tile, seq512);
  EXPECT_EQ(c[0], 36.0F + 31 * 2.25F);
  EXPECT_EQ(c[1], -9.0F + 31 * 2.25F);
  EXPECT_EQ(c[33], 32 * 2.25F);
}

// --- Scales at their ends --------------------------------------------------------------------------------------------

TEST(Gemm, ExtremeScaleCodes) {
  const auto product = [](std::uint32_t scale_a, std::uint8_t a, std::uint32_t scale_b, std::uint8_t b) {
    return single("mxfp4/ocp", {mxfp4(scale_a, a)}, {mxfp4(scale_b, b)});
  };
  EXPECT_EQ(product(0, 7, 0, 7), 0U);            // 36 * 2^-254
  EXPECT_EQ(product(254, 7, 254, 7), plus_inf);  // 36 * 2^254
  EXPECT_EQ(product(254, 15, 254, 1), minus_inf);
  EXPECT_EQ(product(254, 5, 0, 3), word(4.5F));
  EXPECT_EQ(product(0, 2, one, 2), 0x00400000U);    // 2^-127, subnormal
  EXPECT_EQ(product(254, 3, one, 2), 0x7F400000U);  // 1.5 * 2^127
  EXPECT_EQ(product(254, 4, one, 2), plus_inf);     // 2^128
  EXPECT_EQ(product(one, 2, 255, 0), canonical_nan_bits);
  for (const Accumulator accumulator : {seq512, exact}) {
    // 2^-148 times 0.25, 0.75, 1.25 and 1.75: ties between multiples of 2^-149.
    const auto tiny = [&](const Codes& a, const Codes& b) {
      return single("mxfp4/ocp", {{53, a}}, {{53, b}}, accumulator);
    };
    EXPECT_EQ(tiny({1}, {1}), 0U);
    EXPECT_EQ(tiny({1}, {3}), 2U);
    EXPECT_EQ(tiny({1, 2}, {1, 2}), 2U);
    EXPECT_EQ(tiny({1, 2, 1}, {1, 2, 2}), 4U);
    EXPECT_EQ(tiny({9}, {3}), 0x80000002U);
  }
}

TEST(Gemm, OverflowOfABlockProductBelongsToTheSequence) {
  // 2^130 - 2^130: infinities for the sequential sums, nothing for the exact one.
  const Row a = {mxfp4(254, 6), mxfp4(254, 14), mxfp4(one, 3)};
  const Row b = {mxfp4(one, 4), mxfp4(one, 4), mxfp4(one, 2)};
  EXPECT_EQ(single("mxfp4/ocp", a, b, seq512), canonical_nan_bits);
  EXPECT_EQ(single("mxfp4/ocp", a, b, exact), word(1.5F));
}

TEST(Gemm, ExactSumSeesTheSmallestProduct) {
  // E5M2: 0x34 is 0.25, 0x01 is 2^-16. 2^-150 is a tie; 2^-32 under two scales of 2^-127 decides it.
  const auto sum = [](std::uint8_t last, Accumulator accumulator) {
    return single("mxfp8-e5m2/ocp", {{53, {0x34}}, {0, {0x01}}}, {{53, {0x3C}}, {0, {last}}}, accumulator);
  };
  EXPECT_EQ(sum(0x01, exact), 1U);
  EXPECT_EQ(sum(0x00, exact), 0U);
  EXPECT_EQ(sum(0x81, exact), 0U);
  EXPECT_EQ(sum(0x01, seq512), 0U);
}

TEST(Gemm, NanScaleReachesItsRowAlone) {
  for (const Accumulator accumulator : accumulators) {
    const bool takes_all = accumulator != Accumulator::tc_blackwell_mxf8f6f4;
    const auto name = takes_all ? "nvfp4/direct" : "mxfp4/ocp";
    const std::uint32_t unit = takes_all ? 0x38 : one;
    const std::uint32_t nan = takes_all ? 0x7F : 255;
    const Operand a = operand(name, {{{unit, {2}}, {nan, {}}}, {{unit, {2}}, {unit, {}}}});
    const Operand b = operand(name, {{{unit, {4}}, {unit, {}}}, {{unit, {4}}, {unit, {2}}}});
    const std::vector<float> c = *multiply(a, b, accumulator);
    EXPECT_EQ(float_bits(c[0]), canonical_nan_bits) << name_of(accumulator);
    EXPECT_EQ(float_bits(c[1]), canonical_nan_bits) << name_of(accumulator);
    EXPECT_EQ(c[2], 2.0F) << name_of(accumulator);
    EXPECT_EQ(c[3], 2.0F) << name_of(accumulator);
  }
  EXPECT_EQ(single("hif4/gcc", {{0xFF, {}}}, {{0xC0, {}}}), canonical_nan_bits);
}

TEST(Gemm, NanAndInfinityAmongElements) {
  // E5M2: 0x3C is 1, 0x7C infinity, 0x7E NaN, 0x01 the smallest; E4M3: 0x7F is NaN.
  const auto e5m2 = [](const Codes& a, const Codes& b, Accumulator accumulator) {
    return single("mxfp8-e5m2/ocp", {{one, a}}, {{one, b}}, accumulator);
  };
  for (const Accumulator accumulator : accumulators) {
    if (accumulator == Accumulator::tc_blackwell_mxf4) continue;
    EXPECT_EQ(e5m2({0x7C}, {0x3C}, accumulator), plus_inf) << name_of(accumulator);
    EXPECT_EQ(e5m2({0x7C}, {0x01}, accumulator), plus_inf) << name_of(accumulator);
    EXPECT_EQ(e5m2({0xBC}, {0x7C}, accumulator), minus_inf) << name_of(accumulator);
    EXPECT_EQ(e5m2({0x7C}, {0x00}, accumulator), canonical_nan_bits) << name_of(accumulator);
    EXPECT_EQ(e5m2({0x7C, 0xFC}, {0x3C, 0x3C}, accumulator), canonical_nan_bits) << name_of(accumulator);
    EXPECT_EQ(e5m2({0xFE}, {0x3C}, accumulator), canonical_nan_bits) << name_of(accumulator);
    EXPECT_EQ(single("mxfp8-e4m3/ocp", {{one, {0x7F}}}, {{one, {}}}, accumulator), canonical_nan_bits);
    EXPECT_EQ(
        single(operand("mxfp8-e5m2/ocp", {{{one, {0xFC}}}}), operand("mxfp8-e4m3/ocp", {{{one, {0x38}}}}), accumulator),
        minus_inf);
  }
}

TEST(Gemm, E5m2BlocksAreExact) {
  // 57344^2 - 57344^2 + 2^-16 * 2^-16.
  EXPECT_EQ(single("mxfp8-e5m2/ocp", {{one, {0x7B, 0xFB, 0x01}}}, {{one, {0x7B, 0x7B, 0x01}}}), word(0x1p-32F));
  // 2^30 + 2^6 is a tie between binary32 numbers; 2^-32 on top of it decides.
  EXPECT_EQ(single("mxfp8-e5m2/ocp", {{one, {0x78, 0x48}}}, {{one, {0x78, 0x48}}}), 0x4E800000U);
  EXPECT_EQ(single("mxfp8-e5m2/ocp", {{one, {0x78, 0x48, 0x01}}}, {{one, {0x78, 0x48, 0x01}}}), 0x4E800001U);
  EXPECT_EQ(single("mxfp8-e5m2/ocp", {{one, {0x78, 0x48, 0x01}}}, {{one, {0x78, 0x48, 0x81}}}), 0x4E800000U);
  // 57344 * 56 + 0.5 * 0.25 is a tie in units of 0.25; again 2^-32 decides.
  EXPECT_EQ(single("mxfp8-e5m2/ocp", {{one, {0x7B, 0x38}}}, {{one, {0x53, 0x34}}}), word(3211264.0F));
  EXPECT_EQ(single("mxfp8-e5m2/ocp", {{one, {0x7B, 0x38, 0x01}}}, {{one, {0x53, 0x34, 0x01}}}), word(3211264.25F));
}

// --- Order -----------------------------------------------------------------------------------------------------------

/// A row of `count` MXFP4 blocks, zero but for those listed as (block, scale exponent): 1 * 2^exponent.
Row powers(std::size_t count, const std::vector<std::pair<std::size_t, int>>& blocks) {
  Row row(count, mxfp4_zero);
  for (const auto& [block, exponent] : blocks) row[block] = mxfp4(static_cast<std::uint32_t>(127 + exponent), 2);
  return row;
}

TEST(Gemm, ChunksEndAfter512Elements) {
  // 16 blocks a chunk. 2^24 + 1 is a tie that goes down, so a sequence swallows two ones; a chunk of their own adds
  // them.
  const auto sum = [](std::size_t first, std::size_t second, Accumulator accumulator) {
    return single("mxfp4/ocp", powers(18, {{0, 24}, {first, 0}, {second, 0}}), Row(18, mxfp4(one, 2)), accumulator);
  };
  constexpr std::uint32_t two_to_24 = 0x4B800000U;
  constexpr std::uint32_t two_more = 0x4B800001U;
  EXPECT_EQ(sum(16, 17, seq512), two_more);
  EXPECT_EQ(sum(16, 17, seq), two_to_24);
  EXPECT_EQ(sum(16, 17, exact), two_more);
  EXPECT_EQ(sum(15, 16, seq512), two_to_24);
  EXPECT_EQ(sum(14, 15, seq512), two_to_24);
  EXPECT_EQ(sum(14, 15, exact), two_more);
}

TEST(Gemm, ChunkSumsAreAddedInChunkOrder) {
  const auto sum = [](std::size_t big, std::size_t first, std::size_t second) {
    return single("mxfp4/ocp", powers(48, {{big, 24}, {first, 0}, {second, 0}}), Row(48, mxfp4(one, 2)));
  };
  EXPECT_EQ(sum(0, 16, 32), 0x4B800000U);  // (2^24 + 1) + 1
  EXPECT_EQ(sum(32, 0, 16), 0x4B800001U);  // (1 + 1) + 2^24
}

TEST(Gemm, ChunksOfOtherBlockLengths) {
  // hif4: 8 blocks of 64 a chunk; nvfp4: 32 blocks of 16. Scales by two factors of 2^12 and, for nvfp4, elements.
  const auto hif4 = [](std::size_t first, std::size_t second) {
    const Block unit = {0xC0, {4}};
    Row a(10, {0xC0, {}});
    a[0] = {(48U + 12U) << 2, {4}};
    a[first] = a[second] = unit;
    Row b(10, unit);
    b[0] = a[0];
    return single("hif4/gcc", a, b);
  };
  EXPECT_EQ(hif4(8, 9), 0x4B800001U);
  EXPECT_EQ(hif4(7, 8), 0x4B800000U);
  const auto nvfp4 = [](std::size_t first, std::size_t second) {
    // 2^24 = (4 * 256) * (4 * 256) * 16; ones against it.
    const Block big = {0x78, Codes(16, 6)};
    Row a(34, {0x38, {}});
    a[0] = big;
    a[first] = a[second] = {0x38, {2}};
    Row b(34, {0x38, {2}});
    b[0] = big;
    return single("nvfp4/direct", a, b);
  };
  EXPECT_EQ(nvfp4(32, 33), 0x4B800001U);
  EXPECT_EQ(nvfp4(31, 32), 0x4B800000U);
}

TEST(Gemm, TensorScalesMultiplyTheFinishedSumOneAfterTheOther) {
  Operand a = operand("nvfp4/tensor-scale", {{{0x38, {1}}}});  // 0.5
  Operand b = operand("nvfp4/tensor-scale", {{{0x38, {3}}}});  // 1.5
  a.quantized.tensor_scale = 0x1p-149F;
  b.quantized.tensor_scale = 0x1p10F;
  EXPECT_EQ(single(a, b), 0x00000400U);  // RN32(0.75 * 2^-149) = 2^-149, times 2^10
  EXPECT_EQ(single(b, a), word(0.75F * 0x1p-139F));
  EXPECT_EQ(single(a, b, exact), 0x00000400U);
}

TEST(Gemm, EmptyExtents) {
  const Profile& profile = named("mxfp4/ocp");
  const auto empty = [&](std::int64_t rows, std::int64_t columns) {
    Quantized q;
    q.geometry = *geometry_of_quantized(profile, std::vector<std::int64_t>{rows, columns}, 1);
    q.codes.resize(static_cast<std::size_t>(q.geometry.code_bytes()), 0x22);
    q.scales.resize(static_cast<std::size_t>(q.geometry.scale_bytes()), 127);
    return q;
  };
  for (const Accumulator accumulator : accumulators) {
    const std::vector<float> c = *gemm(profile, empty(2, 0), profile, empty(3, 0), accumulator);
    ASSERT_EQ(c.size(), 6U);
    for (const float value : c) EXPECT_EQ(float_bits(value), 0U);
    EXPECT_TRUE(gemm(profile, empty(0, 64), profile, empty(3, 64), accumulator)->empty());
    EXPECT_TRUE(gemm(profile, empty(2, 64), profile, empty(0, 64), accumulator)->empty());
  }
}

TEST(Gemm, PaddingCountsAsZeroWhateverItsCodes) {
  const Codes ones(32, 2);
  const Operand a = operand("mxfp4/ocp", {{{one, ones}, {one, ones}}}, 40);
  for (const Accumulator accumulator : accumulators) EXPECT_EQ(single(a, a, accumulator), word(40.0F));
  const Operand e4m3 = operand("mxfp8-e4m3/ocp", {{{one, Codes(32, 0x7F)}}}, 1);
  EXPECT_EQ(single(e4m3, operand("mxfp8-e4m3/ocp", {{{one, {}}}}, 1)), canonical_nan_bits);
  EXPECT_EQ(single(operand("mxfp8-e4m3/ocp", {{{one, {0x38, 0x7F}}}}, 1),
                   operand("mxfp8-e4m3/ocp", {{{one, {0x38, 0x7F}}}}, 1)),
            word(1.0F));
}

// --- Refusals --------------------------------------------------------------------------------------------------------

void expect_refusal(const Operand& a, const Operand& b, Accumulator accumulator, ErrorKind kind,
                    const std::string& message) {
  const auto c = multiply(a, b, accumulator);
  ASSERT_FALSE(c.ok());
  EXPECT_EQ(c.error().kind, kind);
  EXPECT_EQ(c.error().message, message);
}

TEST(Gemm, RefusesOperandsThatDoNotFit) {
  const Operand mx = operand("mxfp4/ocp", {{mxfp4_zero, mxfp4_zero}});
  const Operand hif4 = operand("hif4/gcc", {{{0xC0, {}}}});
  expect_refusal(mx, hif4, seq512, ErrorKind::usage,
                 "gemm: A (mxfp4/ocp) has blocks of 32 elements, B (hif4/gcc) of 64; quantize both with blocks of one "
                 "length");
  expect_refusal(
      mx, operand("mxfp4/ocp", {{mxfp4_zero}}), seq512, ErrorKind::usage,
      "gemm: A of shape [1, 64] and B of shape [1, 32] differ in K, their last axis; C = A times B transposed "
      "needs the same K on both sides");
  Operand cube = mx;
  cube.quantized.geometry = *geometry_of_quantized(mx.profile, std::vector<std::int64_t>{1, 1, 64}, 2);
  expect_refusal(mx, cube, seq512, ErrorKind::usage,
                 "gemm: operand B (mxfp4/ocp) has shape [1, 1, 64] with the block axis last; a matrix is needed: "
                 "flatten the other axes to one");
  Operand short_codes = mx;
  short_codes.quantized.codes.pop_back();
  expect_refusal(short_codes, mx, seq512, ErrorKind::corrupt,
                 "gemm: operand A (mxfp4/ocp) of shape [1, 64] needs 32 bytes of codes and 2 of scales, but has 31 and "
                 "2; quantize it again under its profile");
  Operand other_profile = {named("mxfp8-e4m3/ocp"), mx.quantized};
  EXPECT_EQ(multiply(other_profile, mx, seq512).error().kind, ErrorKind::corrupt);
}

TEST(Gemm, RefusesFormatsThatAnAccumulatorDoesNotTake) {
  const std::string rest =
      "; choose one of seq512, seq, exact, tc:hopper-fp16 and tc:hopper-fp8, which take every format";
  const Operand e4m3 = operand("mxfp8-e4m3/ocp", {{{one, {}}}});
  const Operand mx = operand("mxfp4/ocp", {{mxfp4_zero}});
  expect_refusal(mx, e4m3, Accumulator::tc_blackwell_mxf4, ErrorKind::usage,
                 "gemm: accumulator tc:blackwell-mxf4 takes mxfp4 and nvfp4 (E2M1 under E8M0 or E4M3 scales, blocks of "
                 "16 or 32), not mxfp8-e4m3/ocp in blocks of 32" +
                     rest);
  const Operand nvfp4 = operand("nvfp4/direct", {{{0x38, {}}}});
  expect_refusal(
      nvfp4, nvfp4, Accumulator::tc_blackwell_mxf8f6f4, ErrorKind::usage,
      "gemm: accumulator tc:blackwell-mxf8f6f4 takes mxfp4, mxfp6 and mxfp8 in blocks of 32, not nvfp4/direct in "
      "blocks of 16" +
          rest);
  const Operand hif4 = operand("hif4/gcc", {{{0xC0, {}}}});
  for (const Accumulator accumulator : {Accumulator::tc_blackwell_mxf4, Accumulator::tc_blackwell_mxf8f6f4})
    EXPECT_EQ(multiply(hif4, hif4, accumulator).error().kind, ErrorKind::usage);
}

TEST(Accumulators, HaveNames) {
  for (const Accumulator accumulator : accumulators) EXPECT_EQ(find_accumulator(name_of(accumulator)), accumulator);
  EXPECT_EQ(name_of(Accumulator::tc_blackwell_mxf8f6f4), "tc:blackwell-mxf8f6f4");
  EXPECT_EQ(find_accumulator("seq1024"), std::nullopt);
}

// --- Threads and models on random operands ---------------------------------------------------------------------------

Operand random_operand(const Profile& profile, std::int64_t rows, std::int64_t columns, std::uint32_t step) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < rows * columns; ++i)
    values.push_back(random_normal(3, Stream::cases, step, static_cast<std::uint64_t>(i)));
  const std::int64_t shape[] = {rows, columns};
  const TensorView view = {DType::f32, shape, reinterpret_cast<const std::byte*>(values.data())};
  return {profile, *quantize(profile, view, {.tail = Tail::pad})};
}

std::vector<std::uint32_t> words_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> words;
  for (const float value : values) words.push_back(float_bits(value));
  return words;
}

TEST(Gemm, SameBitsForAnyNumberOfThreads) {
  const int threads_before = omp_get_max_threads();
  for (const char* name : {"mxfp4/ocp", "hif4/gcc", "nvfp4/tensor-scale", "mxfp8-e4m3/ocp", "mxfp8-e5m2/ocp"}) {
    const Operand a = random_operand(named(name), 45, 1100, 0);
    const Operand b = random_operand(named(name), 70, 1100, 1);
    for (const Accumulator accumulator : {seq512, seq, exact, Accumulator::tc_hopper_fp8}) {
      omp_set_num_threads(1);
      const std::vector<std::uint32_t> one_thread = words_of(*multiply(a, b, accumulator));
      for (const int threads : {2, 7}) {
        omp_set_num_threads(threads);
        EXPECT_EQ(words_of(*multiply(a, b, accumulator)), one_thread) << name << " " << name_of(accumulator);
      }
    }
  }
  omp_set_num_threads(threads_before);
}

TEST(Gemm, ElementsDoNotDependOnTheirPlaceInC) {
  const Operand a = random_operand(named("mxfp4/ocp"), 19, 640, 0);
  const Operand b = random_operand(named("mxfp4/ocp"), 37, 640, 1);
  const std::vector<float> c = *multiply(a, b, seq512);
  const std::vector<float> transposed = *multiply(b, a, seq512);
  for (std::size_t i = 0; i < 19; ++i)
    for (std::size_t j = 0; j < 37; ++j) EXPECT_EQ(c[i * 37 + j], transposed[j * 19 + i]);
}

TEST(Gemm, HopperDotsOfFourBitBlocksAreExact) {
  for (const char* name : {"mxfp4/ocp", "nvfp4/direct", "hif4/gcc"}) {
    const Operand a = random_operand(named(name), 20, 1152, 0);
    const Operand b = random_operand(named(name), 40, 1152, 1);
    EXPECT_EQ(words_of(*multiply(a, b, Accumulator::tc_hopper_fp16)), words_of(*multiply(a, b, seq512))) << name;
  }
  const Operand a = random_operand(named("mxfp4/ocp"), 20, 1152, 0);
  EXPECT_EQ(words_of(*multiply(a, a, Accumulator::tc_hopper_fp8)), words_of(*multiply(a, a, seq512)));
}

}  // namespace
}  // namespace fp4proof::portable
