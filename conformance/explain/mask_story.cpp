#include "conformance/explain/mask_story.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/explain/number_text.h"
#include "conformance/explain/rules.h"
#include "formats/float_bits.h"
#include "reference/portable/residual_mask.h"

namespace fp4proof::explain {

namespace {

std::uint32_t magnitude_of(float value) {
  const std::uint32_t magnitude = float_bits(value) & float_magnitude_mask;
  return is_nan_bits(magnitude) ? 0 : magnitude;
}

std::string kept_text(bool kept) { return kept ? "kept" : "dropped"; }

std::string joined(const std::vector<std::string>& parts, std::string_view between) {
  return fmt::format("{}", fmt::join(parts, between));
}

MaskDecision tell_two_four(const MaskFacts& facts, std::int64_t row, std::int64_t column) {
  const portable::Geometry& g = facts.geometry;
  const std::int64_t first = column / 4 * 4;
  const std::int64_t count = std::min<std::int64_t>(4, g.columns - first);
  std::vector<std::string> magnitudes;
  std::vector<std::string> winners;
  std::uint32_t smallest_kept = float_infinity_bits;
  std::uint32_t largest_dropped = 0;
  bool any_dropped = false;
  for (std::int64_t c = first; c < first + count; ++c) {
    const auto at = static_cast<std::size_t>(row * g.columns + c);
    const std::uint32_t magnitude = magnitude_of(facts.residual[at]);
    magnitudes.push_back(float_text(magnitude));
    if (facts.mask[at] != 0) {
      winners.push_back(fmt::format("{}", c));
      smallest_kept = std::min(smallest_kept, magnitude);
    } else {
      any_dropped = true;
      largest_dropped = std::max(largest_dropped, magnitude);
    }
  }
  const bool is_tie = any_dropped && smallest_kept == largest_dropped;
  const bool kept = facts.mask[static_cast<std::size_t>(row * g.columns + column)] != 0;
  const std::string missing = count < 4 ? ", places behind the row count as 0" : "";
  const std::string tie =
      is_tie ? fmt::format("; a tie at {}: the lower column is kept", float_text(smallest_kept)) : "";
  const bool is_tied =
      is_tie && magnitude_of(facts.residual[static_cast<std::size_t>(row * g.columns + column)]) == smallest_kept;
  return {rule::mask_two_four, kept, is_tied,
          fmt::format("|r| of columns {}..{}: {}{}", first, first + count - 1, joined(magnitudes, ", "), missing),
          fmt::format("the two largest are kept: columns {}{}; column {} is {}", joined(winners, " and "), tie, column,
                      kept_text(kept))};
}

MaskDecision tell_channels(const MaskFacts& facts, std::int64_t row, std::int64_t column) {
  const portable::Geometry& g = facts.geometry;
  const bool kept = facts.mask[static_cast<std::size_t>(row * g.columns + column)] != 0;
  const std::int64_t count = kept_count(facts.spec.fraction, g.columns);
  return {rule::mask_channels, kept, false,
          fmt::format("sum of r^2 of each of the {} columns over {} rows", g.columns, g.rows),
          fmt::format("the ceil({} * {}) = {} largest are kept, between equals the lower column; column {} is {}",
                      facts.spec.fraction, g.columns, count, column, kept_text(kept))};
}

/// The tile of the mask that holds an element, and how many tiles there are.
struct MaskTile {
  std::int64_t first_row;
  std::int64_t last_row;
  std::int64_t first_column;
  std::int64_t last_column;
  std::int64_t count;
};

MaskTile tile_of(const MaskFacts& facts, std::int64_t row, std::int64_t column) {
  const portable::Geometry& g = facts.geometry;
  const std::int64_t height = facts.spec.tile_rows;
  const std::int64_t width = facts.spec.tile_cols;
  const std::int64_t first_row = row / height * height;
  const std::int64_t first_column = column / width * width;
  return {first_row, std::min(first_row + height, g.rows) - 1, first_column,
          std::min(first_column + width, g.columns) - 1,
          ((g.rows + height - 1) / height) * ((g.columns + width - 1) / width)};
}

std::uint32_t largest_input(const MaskFacts& facts, const MaskTile& tile) {
  std::uint32_t largest = 0;
  for (std::int64_t r = tile.first_row; r <= tile.last_row; ++r) {
    for (std::int64_t c = tile.first_column; c <= tile.last_column; ++c) {
      largest = std::max(largest, magnitude_of(facts.input[static_cast<std::size_t>(r * facts.geometry.columns + c)]));
    }
  }
  return largest;
}

MaskDecision tell_tiles(const MaskFacts& facts, std::int64_t row, std::int64_t column) {
  const MaskTile tile = tile_of(facts, row, column);
  const bool kept = facts.mask[static_cast<std::size_t>(row * facts.geometry.columns + column)] != 0;
  const bool above = facts.spec.mask == ResidualMask::tiles_above;
  const bool by_input = above || facts.spec.measure == TileMeasure::input_max;
  const std::string measure = by_input ? "largest |x| " + float_text(largest_input(facts, tile)) : "sum of r^2";
  const std::string what = fmt::format("{} of the tile of rows {}..{}, columns {}..{}", measure, tile.first_row,
                                       tile.last_row, tile.first_column, tile.last_column);
  if (above) {
    return {rule::mask_tiles, kept, false, what,
            fmt::format("{} the threshold {}: {}", kept ? "exceeds" : "does not exceed", facts.spec.threshold,
                        kept_text(kept))};
  }
  return {
      rule::mask_tiles, kept, false, what,
      fmt::format("the ceil({} * {}) = {} tiles with the largest are kept, between equals the first; this one is {}",
                  facts.spec.fraction, tile.count, kept_count(facts.spec.fraction, tile.count), kept_text(kept))};
}

}  // namespace

MaskDecision tell_mask(const MaskFacts& facts, std::int64_t row, std::int64_t column) {
  switch (facts.spec.mask) {
    case ResidualMask::two_four: return tell_two_four(facts, row, column);
    case ResidualMask::top_channels: return tell_channels(facts, row, column);
    case ResidualMask::top_tiles:
    case ResidualMask::tiles_above: return tell_tiles(facts, row, column);
    case ResidualMask::dense: break;
  }
  return {rule::residual, true, false, "dense", "every element is kept"};
}

}  // namespace fp4proof::explain
