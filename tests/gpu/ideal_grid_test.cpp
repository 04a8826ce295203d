// The ideal quantizer in binary64 arithmetic against the exact one of the portable reference: every element and
// deterministic rounding, on ties, grid points, their neighbours and random numbers, with the largest error that a
// ratio may have.

#include "gpu/ideal_grid.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "formats/philox.h"
#include "formats/spec_profiles.h"
#include "reference/portable/decompose_ideal.h"
#include "tests/exhaustive/decomposition_comparison.h"

namespace fp4proof::gpu {
namespace {

constexpr std::uint64_t blocks_a_profile = 20000;

/// An MX or NVFP4 profile whose element and rounding are replaced. The ideal quantizer sees no more of it.
Profile profile_of(Element element, Rounding rounding) {
  Profile profile = *find_profile("mxfp4/ocp");
  profile.element = element;
  profile.rounding = rounding;
  return profile;
}

class IdealGrids : public testing::TestWithParam<std::tuple<Element, Rounding>> {};

TEST_P(IdealGrids, EqualTheExactQuantizer) {
  const auto [element, rounding] = GetParam();
  const Profile profile = profile_of(element, rounding);
  const IdealGrid grid = ideal_grid(profile);
  const Magnitude full = decomposition::full_scale(profile);
  const double full_scale = static_cast<double>(full.significand) * pow2d(full.exponent);
  const portable::IdealQuantizer exact(profile);
  std::vector<std::uint32_t> words(static_cast<std::size_t>(profile.block.size()));
  std::vector<double> expected(words.size());
  for (std::uint64_t block = 0; block < blocks_a_profile; ++block) {
    block % 2 == 0 ? exhaustive::fill_tie_block(5, block, words) : exhaustive::fill_random_block(6, block, words);
    exact.encode_block(words.data(), nullptr, expected.data());
    std::uint32_t m_bits = 0;
    for (const std::uint32_t word : words)
      if (is_finite_bits(word)) m_bits = std::max(m_bits, word & float_magnitude_mask);
    const auto m = double{float_from_bits(m_bits)};
    const double full_over_m = m == 0.0 ? 0.0 : full_scale / m;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (!is_finite_bits(words[i])) continue;
      const double number = std::fabs(double{float_from_bits(words[i])}) * full_over_m;
      for (const double error : {0.0, 0x1p-40, -0x1p-40}) {
        const double value = m * (ideal_element(grid, number * (1.0 + error)) * grid.unit);
        ASSERT_EQ(std::bit_cast<std::uint64_t>(value), std::bit_cast<std::uint64_t>(std::fabs(expected[i])))
            << "block " << block << " element " << i << " of " << m << ": " << value << " for " << expected[i];
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Elements, IdealGrids,
                         testing::Combine(testing::Values(Element::e2m1, Element::e2m3, Element::e3m2, Element::e4m3,
                                                          Element::e5m2, Element::s1p1, Element::s1p2, Element::s1p3),
                                          testing::Values(Rounding::rne, Rounding::rna, Rounding::rtz,
                                                          Rounding::ties_down)));

}  // namespace
}  // namespace fp4proof::gpu
