#include "conformance/cli/decompose_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "conformance/cli/error_report.h"
#include "conformance/report/bar_chart.h"
#include "conformance/report/chart_page.h"
#include "conformance/report/heat_map.h"
#include "conformance/report/histogram.h"

namespace fp4proof::cli {

namespace {

using portable::ErrorSplit;

constexpr double page_width = 1080;
constexpr double column_gap = 36;
constexpr double column_width = (page_width - column_gap) / 2;
constexpr double histogram_height = 270;
constexpr double row_gap = 24;
constexpr std::size_t most_bars = 20;

double in_percent(double part, double whole) { return whole == 0 ? 0.0 : 100.0 * part / whole; }

BarRow bar_of(const std::string& name, const ErrorSplit& split, double all_error) {
  const bool has_cosine = split.scale != 0 && split.grid != 0;
  return {name,
          {in_percent(split.deadzone, split.error), in_percent(split.grid, split.error),
           in_percent(split.scale, split.error)},
          {share_text(split.error, all_error), short_number(split.relative_error()),
           has_cosine ? fmt::format("{:+.3f}", split.scale_grid_cosine()) : "-"},
          false};
}

SvgDrawing bars(const DecompositionPicture& picture) {
  BarChart chart;
  const std::size_t shown = std::min(most_bars, picture.tensors.size());
  chart.title = "What the error consists of";
  if (shown < picture.tensors.size()) {
    chart.title += fmt::format(" (first {} of {} tensors)", shown, picture.tensors.size());
  }
  chart.axis_label = "% of the tensor's |e|\u00b2";
  chart.parts = {{"deadzone", palette::blue}, {"grid", palette::sky}, {"scale", palette::orange}};
  chart.number_headings = {"of all |e|\u00b2", "|e|\u00b2/|x|\u00b2", "cosine"};
  chart.mark = 100;
  for (std::size_t i = 0; i < shown; ++i) {
    chart.rows.push_back(bar_of(picture.tensors[i].name, picture.tensors[i].split, picture.all.error));
  }
  if (picture.tensors.size() > 1) {
    chart.rows.push_back(bar_of("all", picture.all, picture.all.error));
    chart.rows.back().is_total = true;
  }
  return draw(chart, page_width);
}

Histogram magnitudes(const PictureDetail& closely) {
  double elements = 0;
  for (const MagnitudeBin& bin : closely.detail.bins) elements += static_cast<double>(bin.elements);
  Histogram chart;
  chart.title = "Elements by magnitude";
  chart.x_label = "|x| / largest of its block";
  chart.y_label = "% of nonzero elements";
  chart.stack = {{"in the deadzone", palette::blue, {}}, {"others", palette::sky, {}}};
  for (const MagnitudeBin& bin : closely.detail.bins) {
    const auto inside = static_cast<double>(bin.in_deadzone);
    chart.stack[0].values.push_back(in_percent(inside, elements));
    chart.stack[1].values.push_back(in_percent(static_cast<double>(bin.elements) - inside, elements));
  }
  if (closely.split.in_deadzone > 0) {
    chart.mark = {
        closely.detail.deadzone_end,
        fmt::format("deadzone: {} of all elements", percent(closely.split.in_deadzone, closely.split.compared()))};
  }
  return chart;
}

Histogram errors(const PictureDetail& closely) {
  Histogram chart;
  chart.title = "Squared error by magnitude";
  chart.x_label = "|x| / largest of its block";
  chart.y_label = "% of |e|\u00b2";
  chart.stack = {{"deadzone", palette::blue, {}}, {"grid", palette::sky, {}}, {"scale", palette::orange, {}}};
  chart.outline = {"whole error", palette::ink, {}};
  for (const MagnitudeBin& bin : closely.detail.bins) {
    chart.stack[0].values.push_back(in_percent(bin.deadzone, closely.split.error));
    chart.stack[1].values.push_back(in_percent(bin.grid, closely.split.error));
    chart.stack[2].values.push_back(in_percent(bin.scale, closely.split.error));
    chart.outline->values.push_back(in_percent(bin.error, closely.split.error));
  }
  if (closely.split.in_deadzone > 0) chart.mark = {closely.detail.deadzone_end, ""};
  return chart;
}

HeatMap blocks(const PictureDetail& closely) {
  const TensorDetail& detail = closely.detail;
  HeatMap map;
  map.title = "Error of the blocks";
  const std::int64_t rows = closely.geometry.rows / static_cast<std::int64_t>(detail.cell_rows);
  const std::int64_t columns = closely.geometry.blocks / static_cast<std::int64_t>(detail.cell_columns);
  const bool is_one = detail.cell_rows * detail.cell_columns ==
                      static_cast<std::size_t>(closely.geometry.rows * closely.geometry.blocks);
  map.subtitle = is_one ? "one cell a block" : fmt::format("one cell gathers about {} x {} blocks", rows, columns);
  map.x_label = "block along the axis";
  map.y_label = "row";
  map.scale_label = "|e|\u00b2/|x|\u00b2 in %";
  map.rows = detail.cell_rows;
  map.columns = detail.cell_columns;
  map.x_end = static_cast<double>(closely.geometry.blocks);
  map.y_end = static_cast<double>(closely.geometry.rows);
  for (std::size_t i = 0; i < detail.cell_errors.size(); ++i) {
    const double value = detail.cell_values[i];
    map.values.push_back(value == 0 ? std::numeric_limits<double>::quiet_NaN()
                                    : in_percent(detail.cell_errors[i], value));
  }
  return map;
}

SvgDrawing closely_drawn(const PictureDetail& closely) {
  const SvgDrawing histograms = stacked({draw(magnitudes(closely), column_width, histogram_height),
                                         draw(errors(closely), column_width, histogram_height)},
                                        row_gap);
  const SvgDrawing heading{page_width, 24,
                           svg_text(0, 18, fmt::format("Tensor with the largest error: {}", elided(closely.name, 80)),
                                    "font-size=\"17\" font-weight=\"600\"")};
  const SvgDrawing charts =
      side_by_side({histograms, draw(blocks(closely), column_width, histograms.height)}, column_gap);
  return stacked({heading, charts}, 14);
}

}  // namespace

std::string to_svg(const DecompositionPicture& picture) {
  ChartPage page;
  page.title = picture.title;
  page.subtitle = picture.subtitle;
  page.drawings = {bars(picture)};
  if (picture.closely != nullptr) page.drawings.push_back(closely_drawn(*picture.closely));
  page.remarks = {
      "scale: the coded scale stands in place of the real one, m / max. deadzone: numbers that even the real scale "
      "makes "
      "zero. grid: the rounding of all others.",
      "The line marks 100 % of |e|\u00b2; a longer bar means that scale and grid partly cancel (cosine < 0)."};
  page.remarks.push_back(picture.is_corrected
                             ? "deadzone and grid are those of plain quantization with real scales; scale is all that "
                               "the coded scales and the correction change about it."
                             : "deadzone + grid is the floor: it remains with the real scale of every block.");
  return to_svg(page);
}

}  // namespace fp4proof::cli
