// S(Q(r)) == Q(S(r)) for the 2:4 mask S of a residual r: masking the codes and masking the numbers before they are
// coded give the same bits, scales included. It holds because the largest magnitude of a block is in the mask. The
// residuals are those of correct(), so the test also holds its coded residual against quantize() of what the mask
// leaves of r.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "formats/float_bits.h"
#include "formats/philox.h"
#include "formats/spec_profiles.h"
#include "reference/portable/correct.h"
#include "reference/portable/dequantize.h"

namespace fp4proof {
namespace {

constexpr std::int64_t columns = 1024;
constexpr std::int64_t rows = 4096;
constexpr std::int64_t groups = rows * columns / 4;

portable::TensorView view_of(const std::vector<float>& values, const std::vector<std::int64_t>& shape) {
  return {portable::DType::f32, shape, reinterpret_cast<const std::byte*>(values.data())};
}

/// Inputs whose residuals are often equal within a group: few distinct magnitudes, repeated with both signs, over many
/// binades, beside plain random numbers and zeros.
std::vector<float> tied_inputs(std::uint64_t seed) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    const std::uint32_t draw = random_word(seed, Stream::cases, 0, static_cast<std::uint64_t>(i));
    const std::uint32_t group = random_word(seed, Stream::cases, 1, static_cast<std::uint64_t>(i / 4));
    const std::uint32_t exponent = 110 + random_word(seed, Stream::cases, 2, static_cast<std::uint64_t>(i / 64)) % 24;
    const std::uint32_t own = (draw & 0x807FFFFFU) | ((exponent - draw % 5) << 23);
    std::uint32_t word = own;
    if (group % 4 == 1) word = (draw & 0x80000000U) | (exponent << 23) | (group & 0x7F0000U);  // four equal magnitudes
    if (group % 4 == 2) word = own & 0xFFE00000U;                                              // few magnitudes
    if (group % 4 == 3 && draw % 3 == 0) word = draw & 0x80000000U;                            // zeros
    values.push_back(float_from_bits(word));
  }
  return values;
}

/// The two largest magnitudes of each four, the lower column between equals, found by ranking.
std::vector<float> masked(const std::vector<float>& r) {
  std::vector<float> kept(r.size(), 0.0F);
  for (std::size_t first = 0; first < r.size(); first += 4) {
    std::size_t order[4] = {first, first + 1, first + 2, first + 3};
    std::stable_sort(order, order + 4, [&](std::size_t a, std::size_t b) { return std::fabs(r[a]) > std::fabs(r[b]); });
    for (const std::size_t i : {order[0], order[1]}) kept[i] = r[i];
  }
  return kept;
}

std::int64_t groups_with_ties_at_the_cut(const std::vector<float>& r) {
  std::int64_t ties = 0;
  for (std::size_t first = 0; first < r.size(); first += 4) {
    float size[4];
    for (std::size_t i = 0; i < 4; ++i) size[i] = std::fabs(r[first + i]);
    std::sort(size, size + 4, std::greater<>());
    if (size[1] == size[2] && size[1] != 0) ++ties;
  }
  return ties;
}

class TwoFourMask : public testing::TestWithParam<const char*> {};

TEST_P(TwoFourMask, MaskingCodesIsCodingTheMasked) {
  const Profile& profile = *find_profile(GetParam());
  const CorrectionStack& stack = *find_correction_stack("resq");
  const std::vector<std::int64_t> shape = {rows, columns};
  const std::vector<float> x = tied_inputs(11);
  const auto corrected = portable::correct(profile, stack, view_of(x, shape));
  ASSERT_TRUE(corrected.ok()) << corrected.error().message;
  ASSERT_TRUE(corrected->residual.has_value());

  std::vector<float> r = portable::dequantize(profile, corrected->first.quantized);
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = x[i] - r[i];
  const auto of_masked = portable::quantize(profile, view_of(masked(r), shape));
  ASSERT_TRUE(of_masked.ok());
  EXPECT_EQ(corrected->residual->quantized.codes, of_masked->codes);
  EXPECT_EQ(corrected->residual->quantized.scales, of_masked->scales);

  // The data has what the property is about: ties at the cut, and codes that the mask takes away.
  EXPECT_GT(groups_with_ties_at_the_cut(r), groups / 50);
  const auto of_all = portable::quantize(profile, view_of(r, shape));
  ASSERT_TRUE(of_all.ok());
  EXPECT_NE(of_all->codes, of_masked->codes);
  EXPECT_EQ(of_all->scales, of_masked->scales);
}

TEST(TwoFourMaskCounterExample, KeepingTheTwoFirstDoesNotCommute) {
  // A mask that may drop the largest magnitude changes the scale: the property is not one of any mask.
  const Profile& profile = *find_profile("mxfp4/rceil");
  const std::vector<std::int64_t> shape = {rows, columns};
  std::vector<float> r = tied_inputs(12);
  const auto of_all = portable::quantize(profile, view_of(r, shape));
  for (std::size_t i = 0; i < r.size(); ++i)
    if (i % 4 > 1) r[i] = 0.0F;
  const auto of_masked = portable::quantize(profile, view_of(r, shape));
  ASSERT_TRUE(of_all.ok() && of_masked.ok());
  EXPECT_NE(of_all->scales, of_masked->scales);
}

INSTANTIATE_TEST_SUITE_P(Profiles, TwoFourMask,
                         testing::Values("mxfp4/ocp", "mxfp4/ceil", "mxfp4/rceil", "mxfp4/even", "mxfp4/nearest",
                                         "hif4/gcc", "hif4/amct", "hif4/exact", "nvfp4/direct", "mxfp4-2d/rceil",
                                         "hif4-2d/gcc"),
                         [](const auto& tested) {
                           std::string name(tested.param);
                           for (char& c : name)
                             if (c == '/' || c == '-') c = '_';
                           return name;
                         });

}  // namespace
}  // namespace fp4proof
