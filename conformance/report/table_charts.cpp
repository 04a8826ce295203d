#include "conformance/report/table_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "conformance/report/heat_map.h"
#include "conformance/report/histogram.h"
#include "conformance/vectors/counted.h"

namespace fp4proof::report {

namespace {

constexpr double map_width = 560;
constexpr double chart_width = 500;
constexpr double chart_height = 270;
constexpr std::uint64_t most_side = 4096;
constexpr std::size_t most_series = 6;
constexpr std::array<const char*, most_series> series_colours = {"#d55e00", "#0072b2", "#e69f00",
                                                                 "#009e73", "#cc79a7", "#8cc8ee"};

std::size_t cells_along(std::uint64_t length, std::uint64_t pooled) {
  return static_cast<std::size_t>((length + pooled - 1) / pooled);
}

/// How many rows and columns share a cell.
struct Pooling {
  std::uint64_t rows = 1;
  std::uint64_t columns = 1;
};

Pooling pooling_of(std::uint64_t rows, std::uint64_t columns, std::size_t most_cells) {
  Pooling pooling;
  while (cells_along(rows, pooling.rows) * cells_along(columns, pooling.columns) > most_cells) {
    (cells_along(columns, pooling.columns) > cells_along(rows, pooling.rows) ? pooling.columns : pooling.rows) *= 2;
  }
  return pooling;
}

/// The bar that a distance belongs to: itself up to 4, then between powers of two; 0 has none.
std::int64_t bin_of(std::int64_t distance) {
  const std::uint64_t size =
      distance < 0 ? 0 - static_cast<std::uint64_t>(distance) : static_cast<std::uint64_t>(distance);
  const std::int64_t bin =
      size <= 4 ? static_cast<std::int64_t>(size) : static_cast<std::int64_t>(std::bit_width(size - 1)) + 2;
  return distance < 0 ? -bin : bin;
}

/// "+1", "-5…8", "+2^20…".
std::string bin_label(std::int64_t bin) {
  const std::int64_t size = std::abs(bin);
  const char* sign = bin < 0 ? "\u2212" : "+";
  if (bin == 0) return "0";
  if (size <= 4) return fmt::format("{}{}", sign, size);
  const std::int64_t power = size - 3;
  if (power < 7) return fmt::format("{}{}\u2026{}", sign, (1 << power) + 1, 2 << power);
  return fmt::format("{}2^{}", sign, power);
}

/// Every how many bars a label has place, counted from 0 on.
std::int64_t label_step(std::int64_t low, std::int64_t high) {
  constexpr double widest = 58;
  const bool has_wide_labels = low < -4 || high > 4;
  const double place = chart_width / static_cast<double>(high - low + 2);
  return has_wide_labels ? static_cast<std::int64_t>(std::ceil(widest / place)) : 1;
}

struct Series {
  std::string name;
  std::map<std::int64_t, std::uint64_t> bins;
};

std::optional<std::int64_t> parsed(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<Series> series_of(const Json& table) {
  std::vector<Series> all;
  for (const CauseRow& row : causes_of(table)) {
    if (!row.distances->is_object()) continue;
    Series series{elided(row.cause + " " + row.kind, 40), {}};
    for (const auto& [distance, count] : row.distances->items()) {
      const auto number = parsed(distance);
      if (number && *number != 0) series.bins[bin_of(*number)] += count_of(count);
    }
    if (series.bins.empty()) continue;
    if (all.size() < most_series) {
      all.push_back(std::move(series));
    } else {
      all.back().name = "others";
      for (const auto& [bin, count] : series.bins) all.back().bins[bin] += count;
    }
  }
  return all;
}

}  // namespace

std::optional<SvgDrawing> place_map(const Json& table, std::size_t most_cells) {
  const Json& places = at(table, "places");
  const std::uint64_t rows = count_at(places, "rows");
  const std::uint64_t columns = count_at(places, "columns");
  const Json& failed = at(places, "failed");
  if (rows == 0 || columns == 0 || rows > most_side || columns > most_side || !failed.is_array() || failed.empty()) {
    return std::nullopt;
  }
  const Pooling pooling = pooling_of(rows, columns, most_cells);
  HeatMap map;
  map.rows = cells_along(rows, pooling.rows);
  map.columns = cells_along(columns, pooling.columns);
  map.values.assign(map.rows * map.columns, std::numeric_limits<double>::quiet_NaN());
  for (const Json& entry : failed) {
    if (!entry.is_array() || entry.size() != 3) continue;
    const std::uint64_t row = count_of(entry[0]);
    const std::uint64_t column = count_of(entry[1]);
    const auto count = static_cast<double>(count_of(entry[2]));
    if (row >= rows || column >= columns || count == 0) continue;
    double& cell = map.values[row / pooling.rows * map.columns + column / pooling.columns];
    cell = std::isnan(cell) ? count : std::max(cell, count);
  }
  map.title = "Where it differs";
  map.subtitle = fmt::format("group {}, {} failed", elided(text_at(places, "group"), 40),
                             counted(count_at(places, "cases"), "case"));
  const std::uint64_t row_step = pooling.rows * std::max<std::uint64_t>(1, count_at(places, "row_step"));
  const std::uint64_t column_step = pooling.columns * std::max<std::uint64_t>(1, count_at(places, "column_step"));
  if (row_step * column_step > 1) map.subtitle += fmt::format("; a cell is {}\u00d7{}", row_step, column_step);
  map.scale_label = "differing cases";
  map.x_label = "column";
  map.y_label = "row";
  map.x_end = static_cast<double>(map.columns * column_step);
  map.y_end = static_cast<double>(map.rows * row_step);
  map.colours = HeatColours::alarm;
  map.low = 0;
  const double height = std::clamp(104 + 6 * static_cast<double>(map.rows), 200.0, chart_height + 100);
  return draw(map, map_width, height);
}

std::optional<SvgDrawing> distance_chart(const Json& table) {
  const std::vector<Series> all = series_of(table);
  if (all.empty()) return std::nullopt;
  std::int64_t low = 0;
  std::int64_t high = 0;
  for (const Series& series : all) {
    low = std::min(low, series.bins.begin()->first);
    high = std::max(high, series.bins.rbegin()->first);
  }
  // A few empty bars around 0 make the side visible on which the distances lie.
  low = std::min<std::int64_t>(low, -3);
  high = std::max<std::int64_t>(high, 3);
  Histogram chart;
  chart.title = "By how far";
  chart.x_label = "distance: actual minus expected";
  chart.y_label = "cases";
  const std::int64_t every = label_step(low, high);
  for (std::int64_t bin = low; bin <= high; ++bin) {
    chart.bin_labels.push_back(bin % every == 0 ? bin_label(bin) : std::string());
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    HistogramSeries series{all[i].name, series_colours[i], std::vector<double>(chart.bin_labels.size())};
    for (const auto& [bin, count] : all[i].bins)
      series.values[static_cast<std::size_t>(bin - low)] = static_cast<double>(count);
    chart.stack.push_back(std::move(series));
  }
  return draw(chart, chart_width, chart_height);
}

}  // namespace fp4proof::report
