// The error of a quantized tensor, term by term.

#include <algorithm>
#include <array>
#include <cmath>

#include "conformance/suite/class_tables.h"
#include "conformance/suite/drafts.h"
#include "formats/float_bits.h"

namespace fp4proof::suite {

namespace {

bool takes_decomposition(const Profile& profile) {
  constexpr auto names = std::to_array<std::string_view>(
      {"mxfp4/ocp", "mxfp4/rceil", "mxfp4/even", "mxfp4/rceil-sr", "mxfp8-e4m3/rceil", "mxfp8-e5m2/ocp",
       "mxfp6-e2m3/rceil", "mxfp6-e3m2/rceil", "hif4/gcc", "hif4/exact", "nvfp4/direct", "nvfp4/tensor-scale"});
  return std::ranges::find(names, profile.name) != names.end();
}

/// A number cut to bfloat16: the inputs for which every term is exact.
std::uint32_t bf16_word(double value) { return word_of(value) & 0xFFFF0000U; }

CaseInput row_case(const Words& words) {
  GroupSpec spec;
  spec.columns = static_cast<std::int64_t>(words.size());
  return matrix_case(spec, words);
}

std::size_t columns_of(const Profile& profile) { return std::max<std::size_t>(profile.block.cols, 32); }

/// Elements at the ties of the ideal grid, m / max times each tie, and one unit in the last place off them. Under half
/// of the maxima binary32 has no m / max.
std::vector<CaseInput> ideal_ties(const CaseContext& context) {
  const Profile& profile = context.profile;
  const std::vector<double> ties = grid_ties(profile.element);
  const double largest = profile.family == Family::hif4 ? 7.0 : grid_values(profile.element).back();
  constexpr std::array ulps = {0, 1, -1};
  constexpr std::array factors = {1.0, 1.1, 1.5, 1.7};
  std::vector<CaseInput> cases;
  for (std::size_t c = 0; c < ulps.size() * factors.size(); ++c) {
    const double maximum = double{float_from_bits(word_of(largest * factors[c % factors.size()]))};
    Words row = {word_of(maximum)};
    for (std::size_t i = 0; row.size() < columns_of(profile); ++i) {
      const double tie = ties[i % ties.size()] * maximum / largest;
      const std::uint32_t word = ulps_away(word_of(tie), ulps[(i + c) % ulps.size()]);
      row.push_back(i % 2 == 0 ? word : negative(word));
    }
    for (std::uint32_t& word : row)
      if ((word & 0x7FFFFFFFU) > row.front()) word = 0;
    cases.push_back(row_case(row));
  }
  return cases;
}

/// Maxima all over a binade, elements around the edge of the deadzone.
std::vector<CaseInput> deadzone_edges(const CaseContext& context) {
  const Profile& profile = context.profile;
  const std::vector<double> grid = grid_values(profile.element);
  const double largest = profile.family == Family::hif4 ? 7.0 : grid.back();
  const double edge = grid[1] / 2;
  const std::size_t length = profile.block.cols;
  std::vector<CaseInput> cases;
  for (int step = 0; step < 16; ++step) {
    const double maximum = largest * (1.0 + (step + 0.5) / 16.0);
    Words row;
    for (std::size_t i = 0; i < columns_of(profile); ++i) {
      const double factor = 0.9 + 0.2 * static_cast<double>(i % length) / static_cast<double>(length);
      const std::uint32_t word = bf16_word(i % length == 0 ? maximum : edge * factor * maximum / largest);
      row.push_back(i % 3 == 1 ? negative(word) : word);
    }
    cases.push_back(row_case(row));
  }
  return cases;
}

template <class Make>
std::vector<CaseInput> random_rows(const CaseContext& context, std::size_t columns, Make make) {
  CaseRandom random(context);
  std::vector<CaseInput> cases;
  for (std::size_t i = 0; i < context.wanted; ++i) {
    const int binade = static_cast<int>(random.below(9)) - 4;
    Words row;
    for (std::size_t k = 0; k < columns; ++k) row.push_back(make(random, binade));
    cases.push_back(row_case(row));
  }
  return cases;
}

std::vector<CaseInput> bf16_rows(const CaseContext& context) {
  return random_rows(context, 2 * columns_of(context.profile),
                     [](CaseRandom& random, int binade) { return bf16_word(std::ldexp(random.normal(), binade)); });
}

std::vector<CaseInput> fp32_rows(const CaseContext& context) {
  return random_rows(context, columns_of(context.profile), [](CaseRandom& random, int binade) {
    return word_of(std::ldexp(random.normal() * random.uniform(), binade));
  });
}

/// Zero blocks, NaN, infinity, subnormals, and scales that clamp at either end.
std::vector<CaseInput> special_rows(const CaseContext& context) {
  CaseRandom random(context);
  const std::size_t columns = 2 * columns_of(context.profile);
  std::vector<CaseInput> cases;
  for (const std::uint32_t special : {0x80000000U, 0x7FC00000U, 0x7F800000U, 0x7F7F0000U, 0x00010000U}) {
    Words row(columns, 0);
    for (std::size_t k = columns / 2; k < columns; ++k) row[k] = bf16_word(random.normal());
    row[3] = special;
    cases.push_back(row_case(row));
  }
  return cases;
}

/// More than one segment of 4096 columns: the order of the sums shows.
std::vector<CaseInput> long_rows(const CaseContext& context) {
  if (context.level != Level::full) return {};
  CaseRandom random(context);
  std::vector<CaseInput> cases;
  for (const std::size_t columns : {std::size_t{4160}, std::size_t{8256}}) {
    Words row;
    for (std::size_t k = 0; k < columns; ++k) {
      row.push_back(bf16_word(std::ldexp(random.normal(), static_cast<int>(random.below(20)) - 10)));
    }
    cases.push_back(row_case(row));
  }
  return cases;
}

constexpr Operation decompose = Operation::decompose;

constexpr std::array decomposition_table = {
    CaseClass{"decompose-ties", "The ideal quantizer compares with a rounded m / max, and breaks ties by chance.",
              decompose, takes_decomposition, ideal_ties},
    CaseClass{"decompose-deadzone", "The edge of the deadzone is taken from the coded scale.", decompose,
              takes_decomposition, deadzone_edges},
    CaseClass{"decompose-bf16", "A term is rounded, or booked under another name.", decompose, takes_decomposition,
              bf16_rows},
    CaseClass{"decompose-fp32", "Terms of inputs with full significands are computed in binary32.", decompose,
              takes_decomposition, fp32_rows},
    CaseClass{"decompose-special", "Zero blocks divide by zero, or NaN and infinity reach the sums.", decompose,
              takes_decomposition, special_rows},
    CaseClass{"decompose-long", "Sums run in another order than 32 lanes and segments of 4096.", decompose,
              takes_decomposition, long_rows},
};

}  // namespace

std::span<const CaseClass> decomposition_classes() { return decomposition_table; }

}  // namespace fp4proof::suite
