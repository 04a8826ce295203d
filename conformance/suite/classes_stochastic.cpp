// Stochastic rounding with stated random words.

#include <array>
#include <cmath>

#include "conformance/suite/class_tables.h"
#include "conformance/suite/drafts.h"

namespace fp4proof::suite {

namespace {

/// A value between two neighbours of the grid and the random word that goes with it.
struct Draw {
  double value;
  std::uint32_t word;
};

/// Rows of draws under each anchor. Random words follow their values.
std::vector<CaseInput> cases_of_draws(const CaseContext& context, const std::vector<Draw>& draws) {
  const Profile& profile = context.profile;
  Blocks rows;
  Blocks random;
  for (const std::uint32_t amax : anchors(context)) {
    const double unit = grid_unit(profile, amax);
    const std::size_t length = row_length(profile);
    for (std::size_t begin = 0; begin < draws.size(); begin += length - 1) {
      Words row(length, 0);
      Words words(length, 0xFFFFFFFFU);
      row[0] = amax;
      for (std::size_t i = 1; i < length && begin + i - 1 < draws.size(); ++i) {
        const Draw& draw = draws[begin + i - 1];
        const std::uint32_t word = word_of(draw.value * unit);
        if ((word & float_magnitude_mask) > amax) continue;
        row[i] = word;
        words[i] = draw.word;
      }
      rows.push_back(std::move(row));
      random.push_back(std::move(words));
    }
  }
  return cases_of_rows(profile, rows, random);
}

/// Values at fractions of the way between neighbours, with both signs.
std::vector<double> between_neighbours(Element element) {
  const std::vector<double> grid = grid_values(element);
  std::vector<double> values;
  for (std::size_t i = 0; i + 1 < grid.size(); ++i) {
    for (const double fraction : {0.5, 0.25, 1.0 - 0x1p-16, 0x1p-16, 1.0 / 3.0}) {
      const double value = grid[i] + fraction * (grid[i + 1] - grid[i]);
      values.push_back(values.size() % 2 == 0 ? value : -value);
    }
  }
  return values;
}

std::vector<Draw> all_with_word(const std::vector<double>& values, std::uint32_t word) {
  std::vector<Draw> draws;
  for (const double value : values) draws.push_back({value, word});
  return draws;
}

std::vector<CaseInput> floor_draws(const CaseContext& context) {
  return cases_of_draws(context, all_with_word(between_neighbours(context.profile.element), 0));
}

std::vector<CaseInput> ceil_draws(const CaseContext& context) {
  return cases_of_draws(context, all_with_word(between_neighbours(context.profile.element), 0xFFFFFFFFU));
}

std::vector<CaseInput> grid_draws(const CaseContext& context) {
  return cases_of_draws(context, all_with_word(grid_values(context.profile.element), 0xFFFFFFFFU));
}

/// The first random value that rounds up, the last that does not, and the same with the unused low bits set.
std::vector<CaseInput> boundary_draws(const CaseContext& context) {
  const int bits = context.profile.random_bits;
  const std::vector<double> grid = grid_values(context.profile.element);
  const std::uint32_t unused = bits == 32 ? 0U : (1U << (32 - bits)) - 1U;
  std::vector<Draw> draws;
  for (std::size_t i = 0; i + 1 < grid.size(); ++i) {
    for (const std::uint32_t eighths : {1U, 3U, 4U, 6U}) {
      const double value = grid[i] + static_cast<double>(eighths) / 8.0 * (grid[i + 1] - grid[i]);
      const std::uint32_t first_up = (8U - eighths) << 29;
      const std::uint32_t last_down = first_up - (1U << (32 - bits));
      draws.push_back({value, first_up});
      draws.push_back({-value, last_down | unused});
    }
  }
  return cases_of_draws(context, draws);
}

/// Values that need more fraction bits than the hardware spends: the rest must be cut, not rounded.
std::vector<CaseInput> truncation_draws(const CaseContext& context) {
  const int bits = context.profile.random_bits;
  const std::vector<double> grid = grid_values(context.profile.element);
  std::vector<Draw> draws;
  for (std::size_t i = 0; i + 1 < grid.size(); ++i) {
    const double step = grid[i + 1] - grid[i];
    for (const double steps_of_u : {0.5, 0.999, 1.5, 2.999}) {
      const double fraction = 0.5 + std::ldexp(steps_of_u, -std::min(bits, 18));
      draws.push_back({grid[i] + fraction * step, 0x80000000U});
      draws.push_back({grid[i] + fraction * step, 0x7FFFFFFFU});
      draws.push_back({grid[i] + fraction * step, 0x7FFFFFFFU - (1U << (32 - bits))});
    }
  }
  return cases_of_draws(context, draws);
}

constexpr std::array stochastic_table = {
    CaseClass{"stochastic-lowest-word", "Random value 0 does not keep the lower neighbour.", Operation::quantize,
              is_stochastic, floor_draws},
    CaseClass{"stochastic-highest-word", "The largest random value does not go up.", Operation::quantize, is_stochastic,
              ceil_draws},
    CaseClass{"stochastic-on-grid", "An exact element value is moved by a random word.", Operation::quantize,
              is_stochastic, grid_draws},
    CaseClass{"stochastic-boundary",
              "The random value that tips the balance is off by one, or the low bits of the word are spent.",
              Operation::quantize, is_stochastic, boundary_draws},
    CaseClass{"stochastic-truncation", "The fraction is rounded to the random bits where it should be cut.",
              Operation::quantize, is_stochastic, truncation_draws},
};

}  // namespace

std::span<const CaseClass> stochastic_classes() { return stochastic_table; }

}  // namespace fp4proof::suite
