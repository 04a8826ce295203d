#include "reference/portable/residual_mask.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace fp4proof::portable {

namespace {

/// Flags the `count` largest measures; between equals the one that comes first.
std::vector<std::uint8_t> keep_largest(const std::vector<double>& measures, std::int64_t count) {
  std::vector<std::size_t> order(measures.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return measures[a] > measures[b]; });
  std::vector<std::uint8_t> kept(measures.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) kept[order[static_cast<std::size_t>(i)]] = 1;
  return kept;
}

// --- 2:4 -------------------------------------------------------------------------------------------------------------

std::vector<std::uint8_t> two_four_mask(const Geometry& g, std::span<const float> residual) {
  std::vector<std::uint8_t> mask(residual.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < g.rows; ++row) {
    for (std::int64_t column = 0; column < g.columns; column += 4) {
      const auto count = static_cast<std::size_t>(std::min<std::int64_t>(4, g.columns - column));
      std::array<float, 4> four{};
      std::array<std::uint8_t, 4> kept{};
      std::copy_n(residual.begin() + (row * g.columns + column), count, four.begin());
      keep_two_of_four(four.data(), kept.data());
      std::copy_n(kept.begin(), count, mask.begin() + (row * g.columns + column));
    }
  }
  return mask;
}

// --- Channels --------------------------------------------------------------------------------------------------------

std::vector<std::uint8_t> channel_mask(const ResidualSpec& spec, const Geometry& g, std::span<const float> residual) {
  constexpr std::int64_t columns_per_task = 64;
  std::vector<double> sums(static_cast<std::size_t>(g.columns), 0.0);
  const std::int64_t tasks = (g.columns + columns_per_task - 1) / columns_per_task;
#pragma omp parallel for schedule(static)
  for (std::int64_t task = 0; task < tasks; ++task) {
    const std::int64_t last = std::min((task + 1) * columns_per_task, g.columns);
    for (std::int64_t row = 0; row < g.rows; ++row) {
      for (std::int64_t column = task * columns_per_task; column < last; ++column) {
        sums[static_cast<std::size_t>(column)] +=
            square_of(residual[static_cast<std::size_t>(row * g.columns + column)]);
      }
    }
  }
  const std::vector<std::uint8_t> kept = keep_largest(sums, kept_count(spec.fraction, g.columns));
  std::vector<std::uint8_t> mask(residual.size());
  for (std::int64_t row = 0; row < g.rows; ++row) std::copy(kept.begin(), kept.end(), mask.begin() + row * g.columns);
  return mask;
}

// --- Tiles -----------------------------------------------------------------------------------------------------------

/// The matrix of all rows, cut into tiles in row-major order.
struct TileGrid {
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t tile_rows;
  std::int64_t tile_columns;

  TileGrid(const ResidualSpec& spec, const Geometry& g)
      : rows(g.rows), columns(g.columns), tile_rows(spec.tile_rows), tile_columns(spec.tile_cols) {}
  std::int64_t per_row() const { return (columns + tile_columns - 1) / tile_columns; }
  std::int64_t count() const { return (rows + tile_rows - 1) / tile_rows * per_row(); }

  /// Calls visit(flat index) for the elements of a tile in row-major order.
  template <class Visit>
  void for_each_element(std::int64_t tile, Visit visit) const {
    const std::int64_t first_row = tile / per_row() * tile_rows;
    const std::int64_t first_column = tile % per_row() * tile_columns;
    for (std::int64_t row = first_row; row < std::min(first_row + tile_rows, rows); ++row) {
      for (std::int64_t column = first_column; column < std::min(first_column + tile_columns, columns); ++column) {
        visit(static_cast<std::size_t>(row * columns + column));
      }
    }
  }
};

float largest_of_tile(const TileGrid& grid, std::int64_t tile, std::span<const float> input) {
  std::uint32_t largest = 0;
  grid.for_each_element(tile, [&](std::size_t i) { largest = std::max(largest, order_of(input[i])); });
  return float_from_bits(largest);
}

double squares_of_tile(const TileGrid& grid, std::int64_t tile, std::span<const float> residual) {
  double sum = 0.0;
  grid.for_each_element(tile, [&](std::size_t i) { sum += square_of(residual[i]); });
  return sum;
}

std::vector<std::uint8_t> tile_mask(const ResidualSpec& spec, const Geometry& g, std::span<const float> input,
                                    std::span<const float> residual) {
  const TileGrid grid(spec, g);
  const bool by_squares = spec.mask == ResidualMask::top_tiles && spec.measure == TileMeasure::residual_l2;
  std::vector<double> measures(static_cast<std::size_t>(grid.count()));
#pragma omp parallel for schedule(static)
  for (std::int64_t tile = 0; tile < grid.count(); ++tile) {
    measures[static_cast<std::size_t>(tile)] =
        by_squares ? squares_of_tile(grid, tile, residual) : double{largest_of_tile(grid, tile, input)};
  }
  std::vector<std::uint8_t> kept(measures.size());
  if (spec.mask == ResidualMask::top_tiles) {
    kept = keep_largest(measures, kept_count(spec.fraction, grid.count()));
  } else {
    for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = measures[i] > double{spec.threshold} ? 1 : 0;
  }
  std::vector<std::uint8_t> mask(residual.size());
#pragma omp parallel for schedule(static)
  for (std::int64_t tile = 0; tile < grid.count(); ++tile) {
    grid.for_each_element(tile, [&](std::size_t i) { mask[i] = kept[static_cast<std::size_t>(tile)]; });
  }
  return mask;
}

}  // namespace

std::vector<std::uint8_t> residual_mask(const ResidualSpec& spec, const Geometry& geometry,
                                        std::span<const float> input, std::span<const float> residual) {
  switch (spec.mask) {
    case ResidualMask::dense: break;
    case ResidualMask::two_four: return two_four_mask(geometry, residual);
    case ResidualMask::top_channels: return channel_mask(spec, geometry, residual);
    case ResidualMask::top_tiles:
    case ResidualMask::tiles_above: return tile_mask(spec, geometry, input, residual);
  }
  return std::vector<std::uint8_t>(residual.size(), 1);
}

void apply_mask(const Profile& profile, const Geometry& geometry, std::span<const std::uint8_t> mask,
                std::span<std::uint8_t> codes) {
  const bool nibbles = element_spec(profile.element).is_nibble();
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < geometry.rows; ++row) {
    for (std::int64_t column = 0; column < geometry.columns; ++column) {
      if (mask[static_cast<std::size_t>(row * geometry.columns + column)] != 0) continue;
      const std::int64_t byte = row * geometry.code_bytes_per_row + (nibbles ? column / 2 : column);
      const std::uint8_t others = !nibbles ? 0x00 : column % 2 == 0 ? 0xF0 : 0x0F;
      codes[static_cast<std::size_t>(byte)] &= others;
    }
  }
}

}  // namespace fp4proof::portable
