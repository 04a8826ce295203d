#include "reference/exact/residual_mask.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "reference/exact/extended.h"
#include "reference/exact/float_word.h"

namespace fp4proof::exact {
namespace {

/// |x| as a number that compares; NaN counts as 0. Nothing: infinite.
using Measure = std::optional<Rational>;

Measure magnitude_of(std::uint32_t word) {
  if (is_nan(word)) return Rational();
  if (is_infinity(word)) return std::nullopt;
  return float_value(word).abs();
}

bool exceeds(const Measure& a, const Measure& b) {
  if (!b) return false;
  return !a || *a > *b;
}

/// sum + r^2 rounded to binary64.
Measure add_square(const Measure& sum, std::uint32_t r) {
  const Measure magnitude = magnitude_of(r);
  if (!sum || !magnitude) return std::nullopt;
  return round_to(binary64, *sum + *magnitude * *magnitude);
}

/// The indices of the `count` largest measures; between equals the lower index.
std::vector<std::size_t> largest_indices(const std::vector<Measure>& measures, std::size_t count) {
  std::vector<std::size_t> indices(measures.size());
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = i;
  std::stable_sort(indices.begin(), indices.end(),
                   [&](std::size_t a, std::size_t b) { return exceeds(measures[a], measures[b]); });
  indices.resize(count);
  return indices;
}

std::vector<std::uint8_t> two_four_mask(std::span<const std::uint32_t> r, std::size_t rows, std::size_t cols) {
  std::vector<std::uint8_t> mask(rows * cols, 0);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::vector<KeptPair> pairs = kept_pairs(r.subspan(row * cols, cols), cols);
    for (std::size_t col = 0; col < cols; ++col) {
      const KeptPair& pair = pairs[col / 4];
      mask[row * cols + col] = col % 4 == pair.first || col % 4 == pair.second ? 1 : 0;
    }
  }
  return mask;
}

std::vector<std::uint8_t> channel_mask(const ResidualSpec& spec, std::span<const std::uint32_t> r, std::size_t rows,
                                       std::size_t cols) {
  std::vector<Measure> sums(cols, Rational());
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t col = 0; col < cols; ++col) sums[col] = add_square(sums[col], r[row * cols + col]);
  std::vector<std::uint8_t> mask(rows * cols, 0);
  for (const std::size_t col : largest_indices(sums, kept_count(spec.fraction, cols)))
    for (std::size_t row = 0; row < rows; ++row) mask[row * cols + col] = 1;
  return mask;
}

/// The tile of every element, numbered row-major over the tiles.
struct Tiling {
  std::size_t rows, cols, tile_rows, tile_cols;
  std::size_t across() const { return (cols + tile_cols - 1) / tile_cols; }
  std::size_t count() const { return (rows + tile_rows - 1) / tile_rows * across(); }
  std::size_t tile_of(std::size_t index) const {
    return index / cols / tile_rows * across() + index % cols / tile_cols;
  }
};

/// Elements in row-major order reach their tile in its row-major order.
std::vector<Measure> largest_inputs(const Tiling& tiling, std::span<const std::uint32_t> x) {
  std::vector<Measure> largest(tiling.count(), Rational());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Measure magnitude = magnitude_of(x[i]);
    Measure& tile = largest[tiling.tile_of(i)];
    if (exceeds(magnitude, tile)) tile = magnitude;
  }
  return largest;
}

std::vector<Measure> square_sums(const Tiling& tiling, std::span<const std::uint32_t> r) {
  std::vector<Measure> sums(tiling.count(), Rational());
  for (std::size_t i = 0; i < r.size(); ++i) {
    Measure& tile = sums[tiling.tile_of(i)];
    tile = add_square(tile, r[i]);
  }
  return sums;
}

std::vector<std::uint8_t> kept_tiles(const ResidualSpec& spec, const Tiling& tiling, std::span<const std::uint32_t> x,
                                     std::span<const std::uint32_t> r) {
  std::vector<std::uint8_t> kept(tiling.count(), 0);
  if (spec.mask == ResidualMask::tiles_above) {
    const Measure threshold = magnitude_of(std::bit_cast<std::uint32_t>(spec.threshold));
    const std::vector<Measure> largest = largest_inputs(tiling, x);
    for (std::size_t i = 0; i < kept.size(); ++i) kept[i] = exceeds(largest[i], threshold) ? 1 : 0;
    return kept;
  }
  const std::vector<Measure> measures =
      spec.measure == TileMeasure::input_max ? largest_inputs(tiling, x) : square_sums(tiling, r);
  for (const std::size_t i : largest_indices(measures, kept_count(spec.fraction, kept.size()))) kept[i] = 1;
  return kept;
}

std::vector<std::uint8_t> tile_mask(const ResidualSpec& spec, std::span<const std::uint32_t> x,
                                    std::span<const std::uint32_t> r, std::size_t rows, std::size_t cols) {
  const Tiling tiling = {rows, cols, spec.tile_rows, spec.tile_cols};
  const std::vector<std::uint8_t> kept = kept_tiles(spec, tiling, x, r);
  std::vector<std::uint8_t> mask;
  for (std::size_t i = 0; i < rows * cols; ++i) mask.push_back(kept[tiling.tile_of(i)]);
  return mask;
}

}  // namespace

KeptPair kept_of_four(std::span<const std::uint32_t, 4> r) {
  std::vector<Measure> magnitudes;
  for (const std::uint32_t word : r) magnitudes.push_back(magnitude_of(word));
  std::vector<std::size_t> two = largest_indices(magnitudes, 2);
  std::sort(two.begin(), two.end());
  return {static_cast<std::uint8_t>(two[0]), static_cast<std::uint8_t>(two[1])};
}

std::vector<KeptPair> kept_pairs(std::span<const std::uint32_t> row, std::size_t padded) {
  std::vector<KeptPair> pairs;
  for (std::size_t first = 0; first < padded; first += 4) {
    std::array<std::uint32_t, 4> group{};
    for (std::size_t i = 0; i < 4 && first + i < row.size(); ++i) group[i] = row[first + i];
    pairs.push_back(kept_of_four(group));
  }
  return pairs;
}

std::size_t kept_count(float fraction, std::size_t count) {
  const Rational exact =
      float_value(std::bit_cast<std::uint32_t>(fraction)) * Rational(static_cast<std::int64_t>(count));
  const auto below = static_cast<std::size_t>(exact.floor());
  return exact.is_integer() ? below : below + 1;
}

std::vector<std::uint8_t> residual_mask(const ResidualSpec& spec, std::span<const std::uint32_t> x,
                                        std::span<const std::uint32_t> r, std::size_t rows, std::size_t cols) {
  switch (spec.mask) {
    case ResidualMask::dense: return std::vector<std::uint8_t>(rows * cols, 1);
    case ResidualMask::two_four: return two_four_mask(r, rows, cols);
    case ResidualMask::top_channels: return channel_mask(spec, r, rows, cols);
    case ResidualMask::top_tiles:
    case ResidualMask::tiles_above: return tile_mask(spec, x, r, rows, cols);
  }
  return {};
}

}  // namespace fp4proof::exact
