// Products of corrected matrices: values worked out by hand from the rules, refusals, and a literal second
// implementation for every named stack.

#include <gtest/gtest.h>
#include <omp.h>

#include <string>
#include <vector>

#include "formats/philox.h"
#include "reference/portable/correct.h"
#include "tests/unit/hand_operand.h"
#include "tests/unit/slow_corrected_gemm.h"

namespace fp4proof::portable {
namespace {

using namespace hand;
using Accumulator::exact;
using Accumulator::seq;
using Accumulator::seq512;
constexpr Accumulator sums[] = {seq512, seq, exact};

const CorrectionStack& stack(const char* name) { return *find_correction_stack(name); }

/// An operand under a stack; `macro` holds the factor bytes of all rows.
Corrected corrected(const char* stack_name, const Operand& first, Codes macro = {}) {
  return {first.profile, stack(stack_name), 0, {first.quantized, std::move(macro)}, std::nullopt};
}
Corrected with_residual(const char* stack_name, const Operand& first, const Operand& residual, Codes macro = {},
                        Codes residual_macro = {}) {
  Corrected result = corrected(stack_name, first, std::move(macro));
  result.residual = CodedPart{residual.quantized, std::move(residual_macro)};
  return result;
}

Operand mx_row(const Row& row, std::int64_t columns = -1) { return operand("mxfp4/rceil", {row}, columns); }
Corrected plain(const Operand& first) { return corrected("none", first); }
Corrected plain(const Row& row) { return plain(mx_row(row)); }

std::uint32_t single(const Corrected& a, const Corrected& b, Accumulator accumulator = seq512) {
  return float_bits(gemm(a, b, accumulator)->at(0));
}

/// A row of `count` MXFP4 blocks, zero but for those listed as (block, scale exponent): 1 * 2^exponent.
Row powers(std::size_t count, const std::vector<std::pair<std::size_t, int>>& blocks) {
  Row row(count, mxfp4_zero);
  for (const auto& [block, exponent] : blocks) row[block] = mxfp4(static_cast<std::uint32_t>(127 + exponent), 2);
  return row;
}
Row ones(std::size_t count) { return Row(count, mxfp4(one, 2)); }

constexpr std::uint32_t two_to_24 = 0x4B800000U;
constexpr std::uint32_t two_more = 0x4B800001U;

// --- No correction ---------------------------------------------------------------------------------------------------

TEST(CorrectedGemm, WithoutCorrectionsIsThePlainProduct) {
  const Operand a = mx_row({{one, {2, 4}}, {one, {5}}});
  const Operand b = mx_row({{one, {3, 1}}, {one, {6}}});
  for (const Accumulator accumulator : accumulators) EXPECT_EQ(single(plain(a), plain(b), accumulator), word(14.5F));
  EXPECT_EQ(single(corrected("sr", a), corrected("tile-32", b)), word(14.5F));
  const Operand hif4 = operand("hif4/gcc", {{{0xC3, {4}}}});
  EXPECT_EQ(single(plain(hif4), plain(hif4)), word(1.75F * 1.75F));
  Operand nvfp4 = operand("nvfp4/tensor-scale", {{{0x38, {1}}}});
  nvfp4.quantized.tensor_scale = 3.0F;
  EXPECT_EQ(single(plain(nvfp4), plain(nvfp4)), word(0.25F * 9.0F));
}

// --- Macro blocks ----------------------------------------------------------------------------------------------------

TEST(CorrectedGemm, FactorsAreTakenOutAgain) {
  // Byte 128: f = 1.5, byte 64: f = 1.25. Both forms on exact numbers: 3 * 1.5 * 1.25 = 5.625.
  const Operand three = mx_row({mxfp4(one, 5)});
  EXPECT_EQ(single(corrected("mbs-divide", three, {128}), plain(ones(1))), word(4.5F));
  EXPECT_EQ(single(corrected("mbs-divide", three, {128}), corrected("mbs-divide", mx_row(ones(1)), {64})),
            word(5.625F));
  // multiply: RN(1 / 1.5) = 0x3F2AAAAB = 2/3 + 2^-25.4; times 1 it is itself.
  EXPECT_EQ(single(corrected("mbs", mx_row(ones(1)), {128}), plain(ones(1))), 0x3F2AAAABU);
  EXPECT_EQ(single(plain(ones(1)), corrected("mbs", mx_row(ones(1)), {128})), 0x3F2AAAABU);
  // The forms meet: RN(2/3) * 1.5 = 1.00000003 rounds to 1.
  EXPECT_EQ(single(corrected("mbs", mx_row(ones(1)), {128}), corrected("mbs-divide", mx_row(ones(1)), {128})),
            word(1.0F));
}

TEST(CorrectedGemm, WeightsMultiplyEachOtherFirst) {
  // g_a = RN(256/257) = 0x3F7F00FF, g_b = RN(256/291) = 0x3F6135AA, RN(g_a g_b) = 0x3F605555, times 3 = 0x40284000.
  // 3 g_a rounded and then times g_b is 0x40283FFF, as is the product rounded once.
  const Corrected a = corrected("mbs", mx_row({mxfp4(one, 5)}), {1});
  const Corrected b = corrected("mbs", mx_row(ones(1)), {35});
  EXPECT_EQ(single(a, b, seq512), 0x40284000U);
  EXPECT_EQ(single(a, b, seq), 0x40284000U);
  EXPECT_EQ(single(a, b, exact), 0x40284000U);  // the weight is rounded there too
}

TEST(CorrectedGemm, SlicesAreSummedByThemselves) {
  // 2^24 + 1 is a tie that goes down: a sum swallows ones, a slice of their own keeps them. All factors are 1.
  const auto sum = [](const char* name, std::size_t slices, std::size_t first, std::size_t second) {
    const Row row = powers(8, {{0, 24}, {first, 0}, {second, 0}});
    return single(corrected(name, mx_row(row), Codes(slices, 0)), plain(ones(8)));
  };
  EXPECT_EQ(sum("mbs", 2, 4, 5), two_more);
  EXPECT_EQ(sum("mbs", 2, 3, 4), two_to_24);
  EXPECT_EQ(sum("mbs", 2, 2, 3), two_to_24);
  EXPECT_EQ(sum("mbs-64", 4, 2, 3), two_more);
  EXPECT_EQ(sum("mbs-64", 4, 3, 4), two_to_24);
  EXPECT_EQ(sum("mbs-32", 8, 2, 3), two_to_24);
}

TEST(CorrectedGemm, EverySliceHasItsWeightsInEveryRow) {
  // Divide: row 0 of A has factors 1, 1.5; row 1 has 1.25, 1. B: 1 and 2. The last slice holds 8 of 32 elements, and
  // what pads it does not count.
  const Row row = {mxfp4(one, 2), mxfp4(one, 2), mxfp4(one, 2), mxfp4(one, 2), {one, {2, 2, 0, 0, 0, 0, 0, 0, 7}}};
  const Row full = {mxfp4(one, 2), mxfp4(one, 2), mxfp4(one, 2), mxfp4(one, 2), {one, Codes(32, 2)}};
  const Corrected a = corrected("mbs-divide", operand("mxfp4/even", {row, row}, 136), {0, 128, 64, 0});
  const Corrected b = corrected("mbs-divide", operand("mxfp4/even", {full, full, full}, 136), {0, 0, 128, 0, 0, 64});
  const std::vector<float> expected = {4 + 3.0F, 6 + 3.0F,    4 + 3.75F,  //
                                       5 + 2.0F, 7.5F + 2.0F, 5 + 2.5F};
  for (const Accumulator accumulator : sums) EXPECT_EQ(*gemm(a, b, accumulator), expected);
}

TEST(CorrectedGemm, ChunksOfSlices) {
  // A chunk has four slices of 128: ones in slices 4 and 5 make a chunk of their own, in 3 and 4 they do not.
  const auto sum = [](const char* name, std::size_t slices, std::size_t first, std::size_t second,
                      Accumulator accumulator) {
    const Row row = powers(24, {{0, 24}, {first, 0}, {second, 0}});
    return single(corrected(name, mx_row(row), Codes(slices, 0)), plain(ones(24)), accumulator);
  };
  EXPECT_EQ(sum("mbs", 6, 16, 20, seq512), two_more);
  EXPECT_EQ(sum("mbs", 6, 16, 20, seq), two_to_24);
  EXPECT_EQ(sum("mbs", 6, 16, 20, exact), two_more);
  EXPECT_EQ(sum("mbs", 6, 12, 16, seq512), two_to_24);
  EXPECT_EQ(sum("mbs-32", 24, 16, 17, seq512), two_more);
  EXPECT_EQ(sum("mbs-32", 24, 15, 16, seq512), two_to_24);
}

TEST(CorrectedGemm, ExactSumOfWeightedSlices) {
  // 3 * RN(2/3) = 3 * 11184811 * 2^-24 = 2 + 2^-24 exactly; minus 2 that leaves 2^-24, or 0 where it was rounded.
  const Operand a = mx_row({mxfp4(one, 5), mxfp4(one, 12)});
  const Corrected weighted = corrected("mbs-32", a, {128, 0});
  EXPECT_EQ(single(weighted, plain(ones(2)), exact), word(0x1p-24F));
  EXPECT_EQ(single(weighted, plain(ones(2)), seq512), 0U);
  // The dot of a slice is exact as well: 2^24 + 1 - 2^24 = 1.
  const Row row = {mxfp4(one + 24, 2), mxfp4(one, 2), mxfp4(one + 24, 10)};
  EXPECT_EQ(single(corrected("mbs", mx_row(row), {128}), plain(ones(3)), exact), 0x3F2AAAABU);
  EXPECT_EQ(single(corrected("mbs", mx_row(row), {128}), plain(ones(3)), seq512), 0U);
  // E5M2: 57344^2 = 7^2 * 2^26 and 2^-32 in one block are 58 + bits apart. 0x7B is 57344, 0x01 is 2^-16.
  const Operand wide = operand("mxfp8-e5m2/rceil", {{{one, {0x7B, 0x01}}, {one, {0xFB}}}});
  const Operand other = operand("mxfp8-e5m2/rceil", {{{one, {0x7B, 0x01}}, {one, {0x7B}}}});
  EXPECT_EQ(single(corrected("mbs-32", wide, {128, 128}), plain(other), exact), 0x3F2AAAABU - (32U << 23));
  EXPECT_EQ(single(corrected("mbs-32", wide, {128, 128}), plain(other), seq512), 0U);
  // 53 significant bits and 24 of the weight: (7 * 2^26 * 7 + 2^-6) * RN(2/3) - 49 * 2^26 * RN(2/3) = 2^-6 RN(2/3).
  // 0x30 is 2^-3.
  const Operand dense = operand("mxfp8-e5m2/rceil", {{{one, {0x7B, 0x30}}, {one, {0xFB}}}});
  const Operand dense_other = operand("mxfp8-e5m2/rceil", {{{one, {0x7B, 0x30}}, {one, {0x7B}}}});
  EXPECT_EQ(single(corrected("mbs-32", dense, {128, 128}), plain(dense_other), exact), 0x3F2AAAABU - (6U << 23));
}

TEST(CorrectedGemm, RangeOfWeightedSums) {
  // 2^130 - 2^130: infinities for the sequential sums, nothing for the exact one.
  const Row big = {mxfp4(254, 6), mxfp4(254, 14), mxfp4(one, 3)};
  const Row four = {mxfp4(one, 4), mxfp4(one, 4), mxfp4(one, 2)};
  EXPECT_EQ(single(corrected("mbs-32", mx_row(big), {0, 0, 0}), plain(four), seq512), canonical_nan_bits);
  EXPECT_EQ(single(corrected("mbs-32", mx_row(big), {128, 128, 0}), plain(four), exact), word(1.5F));
  // A part of 3 * 2^127 is infinite before its weight; exactly, 3 * 2^127 * RN(2/3) is 2^128 + 2^103: still infinite.
  const Row top = {mxfp4(254, 5)};
  EXPECT_EQ(single(corrected("mbs", mx_row(top), {128}), plain(ones(1)), seq512), plus_inf);
  EXPECT_EQ(single(corrected("mbs", mx_row(top), {128}), plain(ones(1)), exact), plus_inf);
  // 2 * 2^127 * RN(1 / 1.25) = 0x3F4CCCCD * 2^128 is finite.
  const Row two = {mxfp4(254, 4)};
  EXPECT_EQ(single(corrected("mbs", mx_row(two), {64}), plain(ones(1)), seq512), plus_inf);
  EXPECT_EQ(single(corrected("mbs", mx_row(two), {64}), plain(ones(1)), exact), 0x7F4CCCCDU);
  // 2^-149 * RN(2/3) rounds to 2^-149, 2^-149 * 2/3 * 2/3 to 0, under seq512 in one step.
  const Row tiny = {mxfp4(one - 100, 2)};
  const Row small = {mxfp4(one - 49, 2)};
  for (const Accumulator accumulator : sums) {
    EXPECT_EQ(single(corrected("mbs", mx_row(tiny), {128}), plain(small), accumulator), 1U);
    EXPECT_EQ(single(corrected("mbs", mx_row(tiny), {128}), corrected("mbs", mx_row(small), {128}), accumulator), 0U);
  }
}

TEST(CorrectedGemm, SpecialValuesUnderWeights) {
  // E5M2: 0x7C is infinity, 0x7E NaN, 0x3C one.
  const auto e5m2 = [](const Codes& codes) { return operand("mxfp8-e5m2/rceil", {{{one, codes}}}); };
  for (const Accumulator accumulator : sums) {
    const auto product = [&](const Codes& a) {
      return single(corrected("mbs", e5m2(a), {128}), corrected("mbs", e5m2({0x3C, 0x3C}), {7}), accumulator);
    };
    EXPECT_EQ(product({0x7C}), plus_inf);
    EXPECT_EQ(product({0xFC, 0x3C}), minus_inf);
    EXPECT_EQ(product({0x7C, 0xFC}), canonical_nan_bits);
    EXPECT_EQ(product({0x7E}), canonical_nan_bits);
    EXPECT_EQ(single(corrected("mbs", mx_row({{255, {}}}), {9}), plain(ones(1)), accumulator), canonical_nan_bits);
  }
}

// --- Residual --------------------------------------------------------------------------------------------------------

TEST(CorrectedGemm, ResidualProductIsAddedSecond) {
  // 2^24 + RN(3/2) = 2^24 + 1.5 rounds to 2^24 + 2; 2^24 + 3 is a tie that goes to 2^24 + 4.
  const Operand big = mx_row({mxfp4(one + 24, 2)});
  const Operand three = mx_row({mxfp4(one, 5)});
  for (const Accumulator accumulator : sums) {
    EXPECT_EQ(single(with_residual("fallback", big, three), plain(ones(1)), accumulator), two_more);
    EXPECT_EQ(single(plain(ones(1)), with_residual("fallback", big, three), accumulator), two_more);
    EXPECT_EQ(single(with_residual("rfq", big, three), plain(ones(1)), accumulator), 0x4B800002U);
    EXPECT_EQ(single(plain(ones(1)), with_residual("resq", big, three), accumulator), 0x4B800002U);
  }
}

TEST(CorrectedGemm, AlphaMultipliesTheProductWithARoundingOfItsOwn) {
  // RN(0.1) = 0x3DCCCCCD; 1 + RN(RN(0.1) * 9) = 0x3FF33334, and 0x3FF33333 with one rounding.
  Corrected a = with_residual("rfq", mx_row({{one, {2, 0}}}), mx_row({{one, {5, 5}}}));
  a.stack.residual.alpha = 0.1F;
  EXPECT_EQ(single(a, plain(Row{{one, {2, 4}}})), 0x3FF33334U);
  a.stack.residual.alpha = -2.0F;
  EXPECT_EQ(single(a, plain(Row{{one, {2, 4}}})), word(-17.0F));
}

TEST(CorrectedGemm, ResidualHasItsOwnMacroBytes) {
  // 1 / 1.25 = 0.8: 0x3F4CCCCD; 1 * RN(2/3) + 0.8 * 1: 0.66666669 + 0.80000001 = 0x3FBBBBBC.
  const Operand unit = mx_row(ones(1));
  const Corrected a = with_residual("mbs+resq", unit, unit, {128}, {64});
  EXPECT_EQ(single(a, plain(ones(1))), word(float_from_bits(0x3F2AAAABU) + float_from_bits(0x3F4CCCCDU)));
  EXPECT_EQ(single(a, plain(ones(1))), 0x3FBBBBBCU);
  // Half of the second, both under a weight of B: RN(2/3) * 1 and 0.4.
  const Corrected halved = with_residual("mbs+fallback", unit, mx_row({mxfp4(one, 4)}), {0}, {0});
  EXPECT_EQ(single(halved, corrected("mbs", unit, {64})), word(float_from_bits(0x3F4CCCCDU) * 2.0F));
}

TEST(CorrectedGemm, NanOfAProductIsCanonical) {
  const Operand infinite = operand("mxfp8-e5m2/rceil", {{{one, {0x7C}}}});
  const Operand negative = operand("mxfp8-e5m2/rceil", {{{one, {0xFC}}}});
  const Operand unit = operand("mxfp8-e5m2/rceil", {{{one, {0x3C}}}});
  EXPECT_EQ(single(with_residual("rfq", infinite, negative), plain(unit)), canonical_nan_bits);
  EXPECT_EQ(single(with_residual("rfq", infinite, infinite), plain(unit)), plus_inf);
  EXPECT_EQ(single(corrected("three-quarters-rn", mx_row({{255, {}}})), plain(ones(1))), canonical_nan_bits);
}

// --- Three-quarters, Hadamard, tiles ---------------------------------------------------------------------------------

TEST(CorrectedGemm, ThreeQuartersAreDividedOut) {
  const auto scaled = [](std::uint8_t code) { return corrected("three-quarters-rn", mx_row({mxfp4(one, code)})); };
  EXPECT_EQ(single(scaled(5), plain(ones(1))), word(4.0F));
  EXPECT_EQ(single(plain(ones(1)), scaled(2)), 0x3FAAAAABU);  // RN(4/3)
  EXPECT_EQ(single(scaled(5), scaled(5)), word(16.0F));
  // 1 + 4 = 5 by 0.5625, once: 0x410E38E4; by 0.75 twice it would be 0x410E38E3.
  const Corrected five = corrected("three-quarters-rn", mx_row({{one, {2, 6}}}));
  const Corrected unit = corrected("three-quarters-rn", mx_row({{one, {2, 2}}}));
  for (const Accumulator accumulator : accumulators) EXPECT_EQ(single(five, unit, accumulator), 0x410E38E4U);
}

TEST(CorrectedGemm, ThreeQuartersOfBothPartsOfAResidual) {
  // Each product is divided before alpha: RN(1 / 0.75) + RN(0.5 * RN(1 / 0.75)) = 4/3 + 2/3 = 2.
  Corrected a = with_residual("fallback", mx_row(ones(1)), mx_row(ones(1)));
  a.stack.three_quarters = true;
  EXPECT_EQ(single(a, plain(ones(1))), word(2.0F));
}

TEST(CorrectedGemm, SameHadamardTransformOnBothSides) {
  const Operand unit = mx_row(ones(1));
  for (const char* name : {"hadamard-16", "hadamard-64", "hadamard-16-plain", "hadamard-16-fresh"})
    EXPECT_EQ(single(corrected(name, unit), corrected(name, unit)), word(1.0F)) << name;
  // The product number belongs to fresh signs alone.
  Corrected other = corrected("hadamard-16", unit);
  other.product = 3;
  EXPECT_EQ(single(corrected("hadamard-16", unit), other), word(1.0F));
}

Operand under_tiles(std::uint8_t size, const Profile& profile, std::uint8_t code) {
  const std::int64_t extent = 2 * size;
  Operand result = {profile, {*geometry_of_quantized(profile, std::vector<std::int64_t>{extent, extent}, 1), {}, {}}};
  const auto& g = result.quantized.geometry;
  result.quantized.codes.assign(static_cast<std::size_t>(g.code_bytes()), static_cast<std::uint8_t>(code * 17));
  result.quantized.scales.assign(static_cast<std::size_t>(g.scale_bytes()), 127);
  return result;
}

TEST(CorrectedGemm, TilesOfEverySize) {
  for (const char* name : {"tile-8", "tile-16", "tile-32", "tile-64"}) {
    const std::uint8_t size = stack(name).tile;
    const Profile profile = stack(name).effective(named("mxfp4/rceil"));
    const Corrected a = corrected(name, under_tiles(size, profile, 3));
    const Corrected b = corrected(name, under_tiles(size, profile, 5));
    for (const Accumulator accumulator :
         {seq512, seq, exact, Accumulator::tc_hopper_fp16, Accumulator::tc_hopper_fp8}) {
      const auto c = gemm(a, b, accumulator);
      ASSERT_TRUE(c.ok()) << name << " " << name_of(accumulator);
      EXPECT_EQ(*c, std::vector<float>(c->size(), 4.5F * 2.0F * static_cast<float>(size))) << name;
    }
    const bool is_block_of_mx = size == 32;
    EXPECT_EQ(gemm(a, b, Accumulator::tc_blackwell_mxf8f6f4).ok(), is_block_of_mx) << name;
    EXPECT_EQ(gemm(a, b, Accumulator::tc_blackwell_mxf4).ok(), size == 16 || is_block_of_mx) << name;
  }
}

// --- Refusals --------------------------------------------------------------------------------------------------------

void expect_refusal(const Corrected& a, const Corrected& b, ErrorKind kind, const std::string& message,
                    Accumulator accumulator = seq512) {
  const auto c = gemm(a, b, accumulator);
  ASSERT_FALSE(c.ok()) << message;
  EXPECT_EQ(c.error().kind, kind) << c.error().message;
  EXPECT_EQ(c.error().message, "gemm: " + message);
}

TEST(CorrectedGemm, RefusesOperandsThatDoNotFit) {
  const Operand unit = mx_row(ones(4));
  const Corrected residual = with_residual("rfq", unit, unit);
  expect_refusal(
      residual, with_residual("resq", unit, unit), ErrorKind::usage,
      "A (stack 'rfq') and B (stack 'resq') both have a residual; at most one operand may: correct the other "
      "one without");
  Corrected fresh = corrected("hadamard-16-fresh", unit);
  fresh.product = 5;
  expect_refusal(fresh, plain(unit), ErrorKind::usage,
                 "the Hadamard transforms differ: size 16, signs fresh, seed 0, product 5 on A, none on B; they cancel "
                 "in the product only where size, signs, seed and product number are the same");
  EXPECT_EQ(gemm(fresh, corrected("hadamard-16-fresh", unit), seq512).error().kind, ErrorKind::usage);
  EXPECT_EQ(gemm(corrected("hadamard-64", unit), corrected("hadamard-16", unit), seq512).error().kind,
            ErrorKind::usage);
  EXPECT_EQ(gemm(corrected("hadamard-16-plain", unit), corrected("hadamard-16", unit), seq512).error().kind,
            ErrorKind::usage);
  Corrected seeded = corrected("hadamard-16", unit);
  seeded.stack.hadamard.seed = 1;
  EXPECT_EQ(gemm(seeded, corrected("hadamard-16", unit), seq512).error().kind, ErrorKind::usage);
  expect_refusal(corrected("mbs", unit, {0}), corrected("mbs-64", unit, {0, 0}), ErrorKind::usage,
                 "A has macro blocks of 128 elements, B of 64; a slice of K has one length: correct both with the same "
                 "macro size, or one without");
  expect_refusal(plain(unit), plain(ones(5)), ErrorKind::usage,
                 "A of shape [1, 128] and B of shape [1, 160] differ in K, their last axis; C = A times B transposed "
                 "needs the same K on both sides");
}

TEST(CorrectedGemm, RefusesMacroBlocksInTensorCoreModels) {
  const Operand unit = mx_row(ones(4));
  for (const Accumulator accumulator : accumulators) {
    if (accumulator == seq512 || accumulator == seq || accumulator == exact) continue;
    const std::string message = "accumulator " + std::string(name_of(accumulator)) +
                                " has no place for the factors of macro blocks, which multiply sums over slices of K; "
                                "choose one of seq512, seq and exact, or stacks without macro blocks";
    expect_refusal(corrected("mbs", unit, {0}), plain(unit), ErrorKind::usage, message, accumulator);
    expect_refusal(plain(unit), corrected("mbs", unit, {0}), ErrorKind::usage, message, accumulator);
  }
}

TEST(CorrectedGemm, RefusesWhatIsNoCorrectedTensor) {
  const Operand unit = mx_row(ones(4));
  expect_refusal(corrected("mbs", unit, {0, 0}), plain(unit), ErrorKind::corrupt,
                 "operand A (mxfp4/rceil, stack 'mbs') of shape [1, 128] needs 1 macro bytes, but has 2; correct it "
                 "again");
  expect_refusal(plain(unit), corrected("none", unit, {0}), ErrorKind::corrupt,
                 "operand B (mxfp4/rceil, stack 'none') of shape [1, 128] needs 0 macro bytes, but has 1; correct it "
                 "again");
  expect_refusal(with_residual("mbs+resq", unit, unit, {0}, {}), plain(unit), ErrorKind::corrupt,
                 "operand A (mxfp4/rceil, stack 'mbs+resq') of shape [1, 128] needs 1 macro bytes, but has 0; correct "
                 "it again");
  expect_refusal(plain(unit), corrected("rfq", unit), ErrorKind::corrupt,
                 "operand B (mxfp4/rceil, stack 'rfq') lacks the residual that its stack names; correct it again");
  expect_refusal(with_residual("none", unit, unit), plain(unit), ErrorKind::corrupt,
                 "operand A (mxfp4/rceil, stack 'none') holds a residual that its stack does not name; correct it "
                 "again");
  expect_refusal(with_residual("rfq", unit, operand("mxfp4/rceil", {ones(4), ones(4)})), plain(unit),
                 ErrorKind::corrupt,
                 "operand A (mxfp4/rceil, stack 'rfq') of shape [1, 128] has a residual of shape [2, 128]; correct it "
                 "again");
  Corrected broken = with_residual("rfq", unit, unit);
  broken.residual->quantized.scales.pop_back();
  const std::string bytes =
      " (mxfp4/rceil) of shape [1, 128] needs 64 bytes of codes and 4 of scales, but has 64 and 3; quantize it again "
      "under its profile (residual of ";
  expect_refusal(broken, plain(unit), ErrorKind::corrupt, "operand A" + bytes + "A)");
  expect_refusal(plain(unit), broken, ErrorKind::corrupt, "operand B" + bytes + "B)");
  Corrected odd_size = corrected("mbs", unit, {0, 0});
  odd_size.stack.macro.size = 96;
  expect_refusal(odd_size, plain(unit), ErrorKind::usage,
                 "operand A (mxfp4/rceil, stack 'mbs') has macro blocks of 96 elements over blocks of 32; macro blocks "
                 "have 32, 64 or 128 elements and hold whole blocks");
  Corrected too_small = corrected("mbs-32", operand("hif4/gcc", {{{0xC0, {}}}}), {0, 0});
  EXPECT_EQ(gemm(too_small, too_small, seq512).error().kind, ErrorKind::usage);
}

TEST(CorrectedGemm, EmptyExtents) {
  const auto empty = [&](const char* name, std::int64_t rows, std::int64_t columns) {
    Corrected result = corrected(name, mx_row(ones(1)));
    Quantized& q = result.first.quantized;
    q.geometry = *geometry_of_quantized(result.profile, std::vector<std::int64_t>{rows, columns}, 1);
    q.codes.assign(static_cast<std::size_t>(q.geometry.code_bytes()), 0x22);
    q.scales.assign(static_cast<std::size_t>(q.geometry.scale_bytes()), 127);
    result.first.macro.assign(static_cast<std::size_t>(rows * macro_blocks_per_row(result.stack.macro, columns)), 0);
    if (result.stack.residual.is_on()) result.residual = result.first;
    return result;
  };
  for (const char* name : {"mbs", "rfq", "mbs+resq", "three-quarters"}) {
    for (const Accumulator accumulator : sums) {
      EXPECT_EQ(*gemm(empty(name, 2, 0), empty("none", 3, 0), accumulator), std::vector<float>(6, 0.0F));
      EXPECT_TRUE(gemm(empty(name, 0, 64), empty("none", 3, 64), accumulator)->empty());
      EXPECT_TRUE(gemm(empty("none", 2, 64), empty(name, 0, 64), accumulator)->empty());
    }
  }
}

// --- A literal second implementation ---------------------------------------------------------------------------------

/// Random MXFP4 codes, scales of 2^-10 to 2^10 and macro bytes, under any stack.
class RandomOperand {
 public:
  RandomOperand(std::uint32_t step) : step_(step) {}

  Corrected make(const CorrectionStack& stack, std::int64_t rows, std::int64_t columns) {
    Corrected result = {stack.effective(named("mxfp4/rceil")), stack, 0, {}, std::nullopt};
    result.first = part(result, rows, columns);
    if (stack.residual.is_on()) result.residual = part(result, rows, columns);
    return result;
  }

 private:
  CodedPart part(const Corrected& corrected, std::int64_t rows, std::int64_t columns) {
    CodedPart part;
    Quantized& q = part.quantized;
    q.geometry = *geometry_of_quantized(corrected.profile, std::vector<std::int64_t>{rows, columns}, 1);
    for (std::int64_t i = 0; i < q.geometry.code_bytes(); ++i) q.codes.push_back(byte());
    for (std::int64_t i = 0; i < q.geometry.scale_bytes(); ++i)
      q.scales.push_back(static_cast<std::uint8_t>(117 + byte() % 21));
    const std::int64_t macro_blocks = rows * macro_blocks_per_row(corrected.stack.macro, columns);
    for (std::int64_t i = 0; i < macro_blocks; ++i) part.macro.push_back(byte());
    return part;
  }
  std::uint8_t byte() { return static_cast<std::uint8_t>(random_word(21, Stream::cases, step_, index_++) >> 24); }

  std::uint32_t step_;
  std::uint64_t index_ = 0;
};

void expect_slow_product(const Corrected& a, const Corrected& b) {
  const slow::Operand slow_a(a);
  const slow::Operand slow_b(b);
  for (const Accumulator accumulator : sums) {
    const auto c = gemm(a, b, accumulator);
    ASSERT_TRUE(c.ok()) << c.error().message;
    const std::int64_t rows_b = b.geometry().rows;
    int differing = 0;
    for (std::int64_t m = 0; m < a.geometry().rows; ++m)
      for (std::int64_t n = 0; n < rows_b; ++n)
        differing += float_bits((*c)[static_cast<std::size_t>(m * rows_b + n)]) !=
                     float_bits(slow::element(slow_a, m, slow_b, n, accumulator));
    EXPECT_EQ(differing, 0) << a.stack.name << " x " << b.stack.name << " " << name_of(accumulator);
  }
}

TEST(CorrectedGemm, EveryStackAgainstTheSlowProduct) {
  constexpr std::int64_t columns = 1100;
  std::uint32_t step = 0;
  for (const CorrectionStack& one_stack : correction_stacks()) {
    const CorrectionStack no_residual = one_stack.without_residual();
    CorrectionStack partner = no_residual;  // what both sides must share
    partner.macro = {};
    partner.three_quarters = false;
    partner.name = "partner";
    RandomOperand random(step++);
    const Corrected a = random.make(one_stack, 9, columns);
    expect_slow_product(a, random.make(no_residual, 34, columns));
    expect_slow_product(a, random.make(partner, 3, columns));
    expect_slow_product(random.make(partner, 3, columns), a);
  }
}

TEST(CorrectedGemm, ResidualOfOtherFamiliesIsTwoPlainProducts) {
  for (const char* name : {"hif4/gcc", "nvfp4/direct", "mxfp8-e4m3/ocp"}) {
    const Profile& profile = named(name);
    const auto coded = [&](std::uint32_t step) {
      std::vector<float> values;
      for (std::uint64_t i = 0; i < 5 * 640; ++i) values.push_back(random_normal(3, Stream::cases, step, i));
      const std::int64_t shape[] = {5, 640};
      return *quantize(profile, {DType::f32, shape, reinterpret_cast<const std::byte*>(values.data())});
    };
    const Corrected a = {profile, stack("fallback"), 0, {coded(0), {}}, CodedPart{coded(1), {}}};
    const Corrected b = {profile, stack("none"), 0, {coded(2), {}}, std::nullopt};
    const std::vector<float> c = *gemm(a, b, seq512);
    const std::vector<float> first = *gemm(profile, a.first.quantized, profile, b.first.quantized, seq512);
    const std::vector<float> second = *gemm(profile, a.residual->quantized, profile, b.first.quantized, seq512);
    for (std::size_t i = 0; i < c.size(); ++i) EXPECT_EQ(c[i], first[i] + 0.5F * second[i]) << name;
  }
}

Corrected correct_rows(const Profile& profile, const CorrectionStack& stack, const std::vector<float>& values,
                       std::int64_t columns) {
  const std::int64_t shape[] = {static_cast<std::int64_t>(values.size()) / columns, columns};
  return *correct(profile, stack, {DType::f32, shape, reinterpret_cast<const std::byte*>(values.data())});
}

TEST(CorrectedGemm, ProductWithTheIdentityIsTheDecodedTensor) {
  // Not so under `multiply`, where decoding divides by f and a product multiplies by RN(1 / f).
  constexpr std::int64_t size = 128;
  std::vector<float> identity(size * size, 0.0F);
  for (std::size_t i = 0; i < size; ++i) identity[i * size + i] = 1.0F;
  std::vector<float> values;
  for (std::uint64_t i = 0; i < size * size; ++i) values.push_back(random_normal(4, Stream::cases, 0, i));
  int compared = 0;
  for (const CorrectionStack& one_stack : correction_stacks()) {
    const bool divides_twice = one_stack.macro.is_on() && one_stack.macro.form == MacroForm::multiply;
    if (divides_twice || one_stack.hadamard.is_on()) continue;
    CorrectionStack partner;
    partner.tile = one_stack.tile;
    for (const char* name : {"mxfp4/rceil", "mxfp4/ocp", "mxfp4/even", "mxfp8-e4m3/rceil"}) {
      const Profile& profile = named(name);
      if (!check_stack(profile, one_stack)) continue;
      const Corrected a = correct_rows(profile, one_stack, values, size);
      const Corrected b = correct_rows(profile, partner, identity, size);
      for (const Accumulator accumulator : sums)
        EXPECT_EQ(*gemm(a, b, accumulator), dequantize(a)) << one_stack.name << " " << name;
      ++compared;
    }
  }
  EXPECT_GE(compared, 40);
}

TEST(CorrectedGemm, SameBitsForAnyNumberOfThreads) {
  const int threads_before = omp_get_max_threads();
  for (const char* name : {"mbs", "mbs-32", "mbs+resq", "three-quarters", "tile-8"}) {
    RandomOperand random(99);
    const Corrected a = random.make(stack(name), 45, 1100);
    const Corrected b = random.make(stack(name).without_residual(), 70, 1100);
    for (const Accumulator accumulator : sums) {
      omp_set_num_threads(1);
      const std::vector<float> one_thread = *gemm(a, b, accumulator);
      for (const int threads : {2, 7}) {
        omp_set_num_threads(threads);
        EXPECT_EQ(*gemm(a, b, accumulator), one_thread) << name << " " << name_of(accumulator);
      }
    }
  }
  omp_set_num_threads(threads_before);
}

}  // namespace
}  // namespace fp4proof::portable
