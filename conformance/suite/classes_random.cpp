// Random blocks at many magnitudes.

#include <array>
#include <cmath>

#include "conformance/suite/class_tables.h"
#include "conformance/suite/drafts.h"
#include "formats/strict_math.h"

namespace fp4proof::suite {

namespace {

std::size_t rows_wanted(const CaseContext& context) {
  const Profile& profile = context.profile;
  return context.wanted * (profile.tensor_scale ? 7 : 1);
}

/// The binade of a row: mostly within thirty of one, every eighth anywhere.
int row_binade(CaseRandom& random, std::size_t row) {
  return row % 8 == 7 ? static_cast<int>(random.below(270)) - 145 : static_cast<int>(random.below(61)) - 30;
}

/// Rows of draws of a distribution; the rows of a 2D tile share their binade.
template <class Draw>
std::vector<CaseInput> random_cases(const CaseContext& context, Draw draw) {
  CaseRandom random(context);
  const Profile& profile = context.profile;
  const std::size_t size = static_cast<std::size_t>(profile.block.size());
  Blocks blocks;
  for (std::size_t i = 0; i < rows_wanted(context); ++i) {
    const int binade = row_binade(random, i);
    Words block;
    for (std::size_t k = 0; k < size; ++k) block.push_back(draw(random, binade));
    blocks.push_back(std::move(block));
  }
  if (!profile.block.is_2d()) return cases_of_rows(profile, blocks);
  std::vector<CaseInput> cases;
  for (const Words& block : blocks) cases.push_back(matrix_case(block_spec(profile), block));
  return cases;
}

std::uint32_t finite(std::uint32_t word) { return is_finite_bits(word) ? word : word & 0x807FFFFFU; }

std::vector<CaseInput> gaussian(const CaseContext& context) {
  return random_cases(
      context, [](CaseRandom& random, int binade) { return finite(word_of(std::ldexp(random.normal(), binade))); });
}

std::vector<CaseInput> laplace(const CaseContext& context) {
  return random_cases(context, [](CaseRandom& random, int binade) {
    const double magnitude = -strict::log_double(random.uniform());
    return finite(word_of(std::ldexp(random.coin() ? -magnitude : magnitude, binade)));
  });
}

/// Two degrees of freedom: a normal over the root of an exponential.
std::vector<CaseInput> student_t(const CaseContext& context) {
  return random_cases(context, [](CaseRandom& random, int binade) {
    const double normal = random.normal();
    const double spread = strict::sqrt_double(-strict::log_double(random.uniform()));
    return finite(word_of(std::ldexp(normal / spread, binade)));
  });
}

std::vector<CaseInput> uniform_bits(const CaseContext& context) {
  return random_cases(context, [](CaseRandom& random, int) { return random.word(); });
}

/// Any bits but those of NaN and infinity.
std::vector<CaseInput> finite_bits(const CaseContext& context) {
  return random_cases(context, [](CaseRandom& random, int) { return finite(random.word()); });
}

std::vector<CaseInput> bf16_values(const CaseContext& context) {
  return random_cases(context, [](CaseRandom& random, int binade) {
    return finite(word_of(std::ldexp(random.normal(), binade)) & 0xFFFF0000U);
  });
}

constexpr std::array random_table = {
    CaseClass{"random-gaussian", "Something goes wrong on ordinary data that no other class thought of.",
              Operation::quantize, any_profile, gaussian},
    CaseClass{"random-laplace", "Something goes wrong on peaked data that no other class thought of.",
              Operation::quantize, any_profile, laplace},
    CaseClass{"random-student-t", "Something goes wrong on data with heavy tails that no other class thought of.",
              Operation::quantize, any_profile, student_t},
    CaseClass{"random-bits", "Something goes wrong on arbitrary words, NaN and infinity among them.",
              Operation::quantize, any_profile, uniform_bits},
    CaseClass{"random-finite-bits", "Something goes wrong on arbitrary finite words over the whole exponent range.",
              Operation::quantize, any_profile, finite_bits},
    CaseClass{"random-bf16", "Something goes wrong on bfloat16 data, where exact ties are frequent.",
              Operation::quantize, any_profile, bf16_values},
};

}  // namespace

std::span<const CaseClass> random_classes() { return random_table; }

}  // namespace fp4proof::suite
