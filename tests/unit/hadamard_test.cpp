// The random Hadamard transform: rules C10 to C12.

#include <gtest/gtest.h>

#include <bit>

#include "formats/spec_profiles.h"
#include "reference/portable/hadamard.h"
#include "tests/unit/correction_inputs.h"

namespace fp4proof::portable {
namespace {

std::vector<float> transformed(const HadamardSpec& spec, const std::vector<float>& row, bool inverse = false,
                               std::uint32_t product = 0) {
  const auto count = static_cast<std::int64_t>(row.size());
  std::vector<std::uint32_t> words = words_of(row);
  const HadamardTransform transform(spec, product, count);
  inverse ? transform.inverse(0, count, words.data()) : transform.forward(0, count, words.data());
  std::vector<float> result;
  for (const std::uint32_t word : words) result.push_back(float_from_bits(word));
  return result;
}

TEST(Hadamard, UnitVectorsGiveTheRowsOfTheMatrix) {
  for (const std::uint8_t size : {std::uint8_t{16}, std::uint8_t{64}}) {
    const float factor = size == 16 ? 0.25F : 0.125F;
    for (unsigned j = 0; j < 2U * size; ++j) {
      std::vector<float> row = filled(2U * size, 0.0F);
      row[j] = 1.0F;
      const std::vector<float> result = transformed({size, HadamardSigns::none, 0}, row);
      for (unsigned i = 0; i < 2U * size; ++i) {
        const bool same_group = i / size == j / size;
        const bool negative = std::popcount((i % size) & (j % size)) % 2 == 1;
        ASSERT_EQ(result[i], same_group ? (negative ? -factor : factor) : 0.0F)
            << "size " << +size << " " << i << "," << j;
      }
    }
  }
}

TEST(Hadamard, PairsAreTakenFromTheNearestOn) {
  // 2^24 1 1 0: after h = 1: 2^24, 2^24 - 1, 1, 1; after h = 2: 2^24, 2^24, 2^24 - 1, 2^24 - 2. (h = 2 first would
  // leave 2^24 - 1 at place 1 and 2^24 at place 2.)
  std::vector<float> row = filled(16, 0.0F);
  row[0] = 16777216.0F;
  row[1] = 1.0F;
  row[2] = 1.0F;
  const std::vector<float> result = transformed({16, HadamardSigns::none, 0}, row);
  for (std::size_t i = 0; i < 16; i += 4) {
    EXPECT_EQ(result[i], 4194304.0F);
    EXPECT_EQ(result[i + 1], 4194304.0F);
    EXPECT_EQ(result[i + 2], 4194303.75F);
    EXPECT_EQ(result[i + 3], 4194303.5F);
  }
}

TEST(Hadamard, TheFactorComesLastWithOneRounding) {
  // 3 * 2^-149 / 4 = 0.75 * 2^-149 rounds to 2^-149; a factor before the sums would give zero.
  std::vector<float> row = filled(16, 0.0F);
  row[0] = row[5] = row[10] = float_from_bits(1);
  EXPECT_EQ(float_bits(transformed({16, HadamardSigns::none, 0}, row)[0]), 1U);
}

TEST(Hadamard, OverflowAndNan) {
  std::vector<float> row = filled(32, 1.0F);
  row[0] = row[1] = float_from_bits(0x7F7FFFFFU);  // sum overflows, difference is 0
  row[16] = float_from_bits(0xFFC00123U);
  const auto words = words_of(transformed({16, HadamardSigns::none, 0}, row));
  EXPECT_EQ(words[0], 0x7F800000U);
  EXPECT_TRUE(is_finite_bits(words[1]));
  for (std::size_t i = 16; i < 32; ++i) EXPECT_EQ(words[i], 0x7FC00000U);
}

TEST(Hadamard, SignsAreTheHighestBitsOfTheWords) {
  for (const HadamardSigns signs : {HadamardSigns::fixed, HadamardSigns::fresh}) {
    const std::uint32_t step = signs == HadamardSigns::fresh ? 7 : 0;
    for (std::size_t k = 0; k < 128; ++k) {
      std::vector<float> row = filled(128, 0.0F);
      row[k] = 1.0F;
      const float first = transformed({64, signs, 99}, row, false, 7)[k / 64 * 64];
      const bool negative = (random_word(99, Stream::hadamard, step, k) >> 31) != 0;
      ASSERT_EQ(first, negative ? -0.125F : 0.125F) << k;
      // Inverse: the sign of the place where the number lands.
      row = filled(128, 0.0F);
      row[k / 64 * 64] = 1.0F;
      ASSERT_EQ(transformed({64, signs, 99}, row, true, 7)[k], negative ? -0.125F : 0.125F) << k;
    }
  }
}

TEST(Hadamard, InverseUndoesWhatDoesNotRound) {
  for (const std::uint8_t size : {std::uint8_t{16}, std::uint8_t{64}}) {
    std::vector<float> row;
    for (std::uint64_t k = 0; k < 192; ++k) {
      row.push_back(static_cast<float>(random_word(5, Stream::cases, 0, k) % 2001) - 1000.0F);
    }
    for (const HadamardSigns signs : {HadamardSigns::none, HadamardSigns::fixed, HadamardSigns::fresh}) {
      const HadamardSpec spec{size, signs, 3};
      EXPECT_EQ(transformed(spec, transformed(spec, row, false, 2), true, 2), row);
    }
  }
}

TEST(Hadamard, CorrectedTensorComesBackToItsOwnColumns) {
  // One group of ones, no signs: the transform is 4, 0, 0, ...: coded exactly, and back to ones.
  const std::vector<float> ones = filled(64, 1.0F);
  const std::int64_t shape[] = {2, 32};
  const auto c = correct(*find_profile("mxfp4/ocp"), *find_correction_stack("hadamard-16-plain"), view_of(ones, shape));
  ASSERT_TRUE(c.ok());
  EXPECT_EQ(scale_of(c->first, 0, 0), 127);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(nibble_of(c->first, 1, i), i % 16 == 0 ? 6 : 0);
  EXPECT_EQ(dequantize(*c), ones);
}

}  // namespace
}  // namespace fp4proof::portable
