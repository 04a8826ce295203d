// The fast road of decompose_rows (row sums alone) against the scalar road (which the element terms force), bit for
// bit: every covered profile under every deterministic rounding, on ties of the ideal quantizer and their neighbours,
// wide binary32 magnitudes, clamped scales, zeros and blocks with NaN and infinity.

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "formats/philox.h"
#include "formats/spec_profiles.h"
#include "reference/portable/decompose.h"
#include "reference/portable/decompose_run.h"

namespace fp4proof::portable {
namespace {

constexpr std::int64_t rows = 24;
constexpr std::int64_t columns = 4096 + 1024 + 64;

float full_scale(const Profile& profile) {
  if (profile.family == Family::hif4) return 7.0F;
  return decode_element(profile.element, element_spec(profile.element).max_code);
}

/// A number on which some rounding decides: k / 32 for the narrow elements, a level of a wide element or the middle
/// between it and the next, now and then a power of two far below all levels.
double deciding_number(const Profile& profile, std::uint32_t word) {
  const ElementSpec spec = element_spec(profile.element);
  if (spec.max_code < 31) return word % static_cast<std::uint32_t>(32 * full_scale(profile)) / 32.0;
  const auto code = static_cast<std::uint8_t>(word % spec.max_code);
  const double level = double{decode_element(profile.element, code)};
  const double next = double{decode_element(profile.element, static_cast<std::uint8_t>(code + 1))};
  if (word >> 8 & 1U) return level;
  return word >> 9 & 15U ? (level + next) / 2 : double{pow2f(-20 - static_cast<int>(word >> 13 & 15U))};
}

/// |x| = m t / full, so that |x| full / m hits a deciding number t exactly, moved by -1, 0 or 1 unit in the last place.
float near_tie(const Profile& profile, float m, std::uint32_t word) {
  const double wanted = double{m} * deciding_number(profile, word & 0xFFFFU) / double{full_scale(profile)};
  const auto magnitude = static_cast<float>(wanted);
  const std::uint32_t bits = float_bits(magnitude) + (word >> 16) % 3;
  return float_from_bits((bits == 0 ? 0 : bits - 1) | (word & float_sign_mask));
}

std::vector<float> hard_values(const Profile& profile, std::uint64_t seed) {
  const float full = full_scale(profile);
  std::vector<float> values(static_cast<std::size_t>(rows * columns));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t word = random_word(seed, Stream::cases, 0, i);
    const std::uint32_t block_word = random_word(seed, Stream::cases, 1, i / 64);
    const auto row = i / static_cast<std::size_t>(columns);
    // Multiples of `full`, so that the quotients are exact; every second row at one magnitude.
    float m = full * static_cast<float>(1 + block_word % 1021) * (row % 2 == 0 ? 1.0F : pow2f(-20));
    if (row == 4) m = full * (1.0F + static_cast<float>(block_word >> 9) * 0x1p-23F);  // any significand
    values[i] = i % 32 == block_word % 32 ? m : near_tie(profile, m, word);
    if (row % 6 == 3) values[i] = random_normal(seed, Stream::cases, 2, i);
    if (row == 9) values[i] *= pow2f(-static_cast<int>(word % 48));  // far below the largest of the block
    if (row % 6 == 5 && word % 4 != 0) values[i] = 0.0F;
    // One row of uniform words: every exponent, NaN and infinity; its runs take the scalar road.
    if (row == 10) values[i] = float_from_bits(word);
    // Now and then a block that is not plain between blocks that are.
    if (row == 12 && i % 1500 == 0) values[i] = std::numeric_limits<float>::infinity();
    if (row == 14 && i / 2048 % 2 == 0) values[i] *= 0x1p-120F;
    if (row == 16 && i / 64 % 3 == 0) values[i] = -0.0F;
  }
  return values;
}

void expect_same_roads(const Profile& profile, const std::string& label) {
  ASSERT_TRUE(RunDecomposer::covers(profile)) << label;
  const std::vector<float> x = hard_values(profile, 7);
  const std::vector<std::int64_t> shape = {rows, columns};
  const TensorView view = {DType::f32, shape, reinterpret_cast<const std::byte*>(x.data())};
  const Geometry geometry = *cut_into_blocks(profile, shape, -1, Tail::error);
  std::vector<ErrorSplit> fast(rows);
  std::vector<ErrorSplit> scalar(rows);
  std::vector<ErrorTerms> terms(x.size());
  ASSERT_TRUE(decompose_rows(profile, view, geometry, {}, 1.0F, 0, rows, {}, {.rows = fast}).ok());
  ASSERT_TRUE(decompose_rows(profile, view, geometry, {}, 1.0F, 0, rows, {}, {.rows = scalar, .elements = terms}).ok());
  for (std::size_t row = 0; row < rows; ++row) {
    EXPECT_EQ(fast[row], scalar[row]) << label << " row " << row;
    if (row != 10) {
      EXPECT_EQ(fast[row].identity_failures, 0) << label << " row " << row;
    }
  }
}

class EveryCoveredProfile : public testing::TestWithParam<const Profile*> {};

TEST_P(EveryCoveredProfile, FastRoadEqualsScalarRoad) {
  for (const Rounding rounding : {Rounding::rne, Rounding::rna, Rounding::rtz, Rounding::ties_down}) {
    Profile profile = *GetParam();
    profile.rounding = rounding;
    expect_same_roads(profile, std::string(profile.name) + " " + std::string(name_of(rounding)));
  }
}

std::vector<const Profile*> covered_profiles() {
  std::vector<const Profile*> list;
  for (const Profile& profile : profiles()) {
    if (RunDecomposer::covers(profile)) list.push_back(&profile);
  }
  return list;
}

std::string test_name(const testing::TestParamInfo<const Profile*>& info) {
  std::string name(info.param->name);
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(DecomposeFast, EveryCoveredProfile, testing::ValuesIn(covered_profiles()), test_name);

/// Every eighth significand of x under a few m: 2^20 quotients of one binade for each.
TEST(WideElements, EveryEighthSignificand) {
  constexpr std::int64_t length = 4096;
  constexpr std::int64_t count = 256;
  for (const char* name : {"mxfp8-e4m3/ocp", "mxfp8-e5m2/rceil", "mxfp6-e2m3/ocp", "mxfp6-e3m2/rceil"}) {
    const Profile& profile = *find_profile(name);
    const std::vector<std::int64_t> shape = {count, length};
    const Geometry geometry = *cut_into_blocks(profile, shape, -1, Tail::error);
    std::vector<float> x(static_cast<std::size_t>(count * length));
    for (const float m : {1.75F, 1.75F * 3 / 2, 1.9999999F}) {
      for (std::size_t i = 0; i < x.size(); ++i) {
        const auto significand = static_cast<std::uint32_t>(i * 8 + float_bits(m) % 8);
        x[i] = i % 32 == 0 ? 4 * m : float_from_bits(0x3F800000U + significand);
      }
      const TensorView view = {DType::f32, shape, reinterpret_cast<const std::byte*>(x.data())};
      std::vector<ErrorSplit> fast(count);
      std::vector<ErrorSplit> scalar(count);
      std::vector<ErrorTerms> terms(x.size());
      ASSERT_TRUE(decompose_rows(profile, view, geometry, {}, 1.0F, 0, count, {}, {.rows = fast}).ok());
      ASSERT_TRUE(
          decompose_rows(profile, view, geometry, {}, 1.0F, 0, count, {}, {.rows = scalar, .elements = terms}).ok());
      EXPECT_EQ(fast, scalar) << name << " m " << m;
    }
  }
}

/// The kernels are used at all: plain blocks are accepted, others refused.
TEST(RunDecomposer, TakesPlainBlocksAlone) {
  const Profile& profile = *find_profile("mxfp4/rceil");
  const RunDecomposer decomposer(profile);
  std::vector<std::uint32_t> words(32, float_bits(3.0F));  // rceil: 3 / 6 is the scale, 1/2
  const std::vector<std::uint8_t> codes(32, 7);
  const std::uint32_t scale = 126;
  LaneSums sums;
  ASSERT_TRUE(decomposer.add(1, words.data(), codes.data(), &scale, sums));
  EXPECT_EQ(sums.folded().elements, 32);
  EXPECT_EQ(sums.folded().value, 32 * 18.0 * 18.0);
  EXPECT_EQ(sums.folded().error, 0.0);
  const std::uint32_t nan_scale = e8m0_nan;
  const std::uint32_t far_scale = 126 - 5;
  words[3] = canonical_nan_bits;
  EXPECT_FALSE(decomposer.add(1, words.data(), codes.data(), &scale, sums));
  words[3] = float_bits(1.0F);
  EXPECT_FALSE(decomposer.add(1, words.data(), codes.data(), &nan_scale, sums));
  EXPECT_FALSE(decomposer.add(1, words.data(), codes.data(), &far_scale, sums));
  EXPECT_EQ(sums.folded().elements, 32);
}

}  // namespace
}  // namespace fp4proof::portable
