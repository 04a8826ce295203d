// Rules D6 and D7: which parts of the error are orthogonal, exactly where they must be and not where they need not be;
// and the gain <Q(x), x> / <x, x> on Gaussian data.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/philox.h"
#include "formats/spec_profiles.h"
#include "reference/exact/float_word.h"
#include "tests/exhaustive/decomposition_comparison.h"

namespace fp4proof {
namespace {

using exact::Rational;

/// Exact inner products of the terms (times F^2) of one block.
struct Products {
  Rational error, scale, deadzone, grid, scale_deadzone, scale_grid, deadzone_grid;
};

Products products_of(const exact::SplitBlock& block) {
  Products sum;
  for (const exact::SplitElement& e : block.elements) {
    sum.error = sum.error + e.error * e.error;
    sum.scale = sum.scale + e.scale * e.scale;
    sum.deadzone = sum.deadzone + e.deadzone * e.deadzone;
    sum.grid = sum.grid + e.grid * e.grid;
    sum.scale_deadzone = sum.scale_deadzone + e.scale * e.deadzone;
    sum.scale_grid = sum.scale_grid + e.scale * e.grid;
    sum.deadzone_grid = sum.deadzone_grid + e.deadzone * e.grid;
  }
  return sum;
}

exact::SplitBlock random_split(const Profile& profile, std::uint64_t number) {
  std::vector<std::uint32_t> words(static_cast<std::size_t>(profile.block.size()));
  number % 4 == 3 ? exhaustive::fill_tie_block(50, number, words) : exhaustive::fill_random_block(50, number, words);
  std::vector<std::uint32_t> random;
  for (std::size_t i = 0; i < words.size(); ++i)
    random.push_back(random_word(51, Stream::cases, 0, number * words.size() + i));
  return exact::split_block(profile, words, random, exact::tensor_scale_word(profile, words));
}

/// Every coded scale is at least m / max: the exact rceil. Clamping moves it up.
bool never_below_ideal(const Profile& profile) {
  return profile.family == Family::mx && profile.scale_rule == ScaleRule::rceil &&
         profile.scale_arithmetic == ScaleArithmetic::exact;
}

portable::ErrorSplit portable_total(const Profile& profile, const exhaustive::Matrix& matrix) {
  const std::vector<std::byte> bytes = exhaustive::bytes_of_matrix(matrix);
  const std::vector<std::int64_t> shape = {matrix.rows, matrix.columns};
  const auto total = portable::decompose(profile, {matrix.dtype, shape, bytes.data()}, {.seed = 3});
  EXPECT_TRUE(total.ok()) << profile.name;
  return total.ok() ? *total : portable::ErrorSplit{};
}

exhaustive::Matrix gaussian_bf16(std::int64_t rows, std::int64_t columns) {
  exhaustive::Matrix matrix{portable::DType::bf16, rows, columns, {}};
  for (std::int64_t i = 0; i < rows * columns; ++i)
    matrix.words.push_back(
        float_bits(round_to_bf16(random_normal(2026, Stream::cases, 0, static_cast<std::uint64_t>(i)))));
  return matrix;
}

TEST(Orthogonality, DeadzoneAndGridAlways) {
  for (const Profile& profile : profiles()) {
    const std::uint64_t blocks = profile.block.rows == 1 ? 60 : 2;
    for (std::uint64_t number = 0; number < blocks; ++number)
      EXPECT_TRUE(products_of(random_split(profile, number)).deadzone_grid.is_zero()) << profile.name;
  }
}

TEST(Orthogonality, ScaleAndDeadzoneUnderRceil) {
  int tested = 0;
  for (const Profile& profile : profiles()) {
    if (!never_below_ideal(profile)) continue;
    const std::uint64_t blocks = profile.block.rows == 1 ? 200 : 6;
    for (std::uint64_t number = 0; number < blocks; ++number) {
      const Products p = products_of(random_split(profile, number));
      EXPECT_TRUE(p.scale_deadzone.is_zero()) << profile.name << " block " << number;
      EXPECT_EQ(p.error, p.scale + p.deadzone + p.grid + p.scale_grid.scaled(1)) << profile.name;
    }
    ++tested;
  }
  EXPECT_GE(tested, 12);
}

TEST(Orthogonality, PortableSumIsZeroUnderRceilForMillionsOfElements) {
  for (const char* name : {"mxfp4/rceil", "mxfp4/rceil-sr", "mxfp8-e4m3/rceil", "mxfp6-e2m3/rceil"}) {
    const Profile& profile = *find_profile(name);
    for (const portable::DType dtype : {portable::DType::bf16, portable::DType::f32}) {
      const portable::ErrorSplit total =
          portable_total(profile, exhaustive::random_matrix(profile, dtype, 52, 0, 512, 64));
      EXPECT_EQ(total.scale_deadzone, 0.0) << name;
      EXPECT_GT(total.in_deadzone, 1000) << name;
    }
  }
}

TEST(Orthogonality, NotUnderFloor) {
  // m = 7: scale 1 is below 7/6. 0.28 lies in the deadzone (24 * 0.28 <= 7) but Q takes it to 0.5.
  const Profile& profile = *find_profile("mxfp4/ocp");
  std::vector<std::uint32_t> words(32);
  words[0] = float_bits(7.0F);
  words[1] = float_bits(0.28125F);
  const exact::SplitBlock block = exact::split_block(profile, words);
  EXPECT_TRUE(block.elements[1].in_deadzone);
  EXPECT_FALSE(block.elements[1].zeroed);
  const Products p = products_of(block);
  EXPECT_EQ(p.scale_deadzone, Rational(3) * Rational(-6) * exact::float_value(float_bits(0.28125F)));
  EXPECT_EQ(p.error, p.scale + p.deadzone + p.grid + p.scale_grid.scaled(1) + p.scale_deadzone.scaled(1));
}

TEST(Orthogonality, NotElsewhereOnGaussianData) {
  const exhaustive::Matrix matrix = gaussian_bf16(256, 1024);
  for (const char* name : {"mxfp4/ocp", "mxfp4/even", "mxfp4/nearest", "hif4/gcc", "nvfp4/direct"})
    EXPECT_NE(portable_total(*find_profile(name), matrix).scale_deadzone, 0.0) << name;
}

TEST(Orthogonality, ScaleAndGridAreNotUnderRceil) {
  const portable::ErrorSplit total = portable_total(*find_profile("mxfp4/rceil"), gaussian_bf16(256, 1024));
  EXPECT_LT(total.scale_grid_cosine(), -0.6);
}

TEST(Gain, OfGaussianData) {
  // No rule shrinks Gaussian numbers by more than about 2 %: `floor`, which clips, by 2.1 %, the others by about 1 %.
  struct Bounds {
    const char* profile;
    double low;
    double high;
  };
  const exhaustive::Matrix matrix = gaussian_bf16(1024, 1024);
  for (const Bounds& bounds :
       {Bounds{"mxfp4/ocp", 0.978, 0.981}, Bounds{"mxfp4/rceil", 0.98, 0.99}, Bounds{"mxfp4/even", 0.98, 0.99},
        Bounds{"hif4/gcc", 0.994, 0.997}, Bounds{"nvfp4/direct", 0.993, 0.996}}) {
    const portable::ErrorSplit total = portable_total(*find_profile(bounds.profile), matrix);
    EXPECT_GT(total.gain(), bounds.low) << bounds.profile;
    EXPECT_LT(total.gain(), bounds.high) << bounds.profile;
    RecordProperty(std::string(bounds.profile), std::to_string(total.gain()));
    std::printf("%-12s gain %.5f\n", bounds.profile, total.gain());
  }
}

TEST(Gain, SharesOfGaussianDataUnderRceil) {
  // The published split of Gaussian data: 1.774 / 0.0205 / 0.748, cosine -0.670, each within 0.01; 7.75 % of the
  // numbers in the deadzone, 10.7 % zeroed.
  const portable::ErrorSplit total = portable_total(*find_profile("mxfp4/rceil"), gaussian_bf16(1024, 1024));
  EXPECT_NEAR(total.scale_share(), 1.774, 0.01);
  EXPECT_NEAR(total.deadzone_share(), 0.0205, 0.001);
  EXPECT_NEAR(total.grid_share(), 0.748, 0.01);
  EXPECT_NEAR(total.scale_grid_cosine(), -0.670, 0.01);
  EXPECT_NEAR(total.deadzone_fraction(), 0.0775, 0.001);
  EXPECT_NEAR(total.zeroed_fraction(), 0.107, 0.001);
}

}  // namespace
}  // namespace fp4proof
