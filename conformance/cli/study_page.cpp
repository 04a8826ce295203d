// The page of charts of `fp4proof study`.

#include <fmt/format.h>

#include <functional>

#include "conformance/cli/error_report.h"
#include "conformance/cli/study_report.h"
#include "conformance/report/bar_chart.h"
#include "conformance/report/html_page.h"
#include "conformance/report/scatter_chart.h"
#include "conformance/vectors/counted.h"

namespace fp4proof::cli {

namespace {

constexpr double page_width = 1080;
constexpr double scatter_height = 520;

using Number = std::function<double(const StudyMeasure&)>;

SvgDrawing scatter(const StudyTable& table) {
  ScatterChart chart;
  chart.title = "Error against size";
  chart.x_label = "bits per element";
  chart.y_label = "relative error |e|\u00b2/|x|\u00b2";
  for (const StudyRow& row : table.rows) {
    if (!row.measure) continue;
    chart.points.push_back({pair_name(row), std::string(row.profile->name), row.measure->bits_per_element(),
                            row.measure->error.split.relative_error()});
  }
  return draw(chart, page_width, scatter_height);
}

/// One bar a measured pair, of one number in percent.
SvgDrawing bars(const StudyTable& table, const char* title, const char* axis, const char* colour,
                const Number& number) {
  BarChart chart;
  chart.title = title;
  chart.axis_label = axis;
  chart.parts = {{axis, colour}};
  chart.number_headings = {"%"};
  for (const StudyRow& row : table.rows) {
    if (!row.measure) continue;
    const double percent = 100 * number(*row.measure);
    chart.rows.push_back({pair_name(row), {percent}, {fmt::format("{:.3f}", percent)}, false});
  }
  return draw(chart, page_width);
}

SvgDrawing shares(const StudyTable& table) {
  BarChart chart;
  chart.title = "What the error consists of";
  chart.axis_label = "% of |e|\u00b2";
  chart.parts = {{"deadzone", palette::blue}, {"grid", palette::sky}, {"scale", palette::orange}};
  chart.number_headings = {"|e|\u00b2/|x|\u00b2", "cosine"};
  chart.mark = 100;
  for (const StudyRow& row : table.rows) {
    if (!row.measure || row.stack->residual.is_on()) continue;
    const portable::ErrorSplit& split = row.measure->error.split;
    chart.rows.push_back({pair_name(row),
                          {100 * split.deadzone_share(), 100 * split.grid_share(), 100 * split.scale_share()},
                          {short_number(split.relative_error()), fmt::format("{:+.3f}", split.scale_grid_cosine())},
                          false});
  }
  return draw(chart, page_width);
}

HtmlTable numbers(const StudyTable& table) {
  HtmlTable html;
  html.text_columns = 2;
  html.headings = {"profile", "corrections"};
  for (std::string& heading : study_headings()) html.headings.push_back(std::move(heading));
  for (const StudyRow& row : table.rows) {
    std::vector<std::string> cells = {std::string(row.profile->name), std::string(row.stack->name)};
    if (row.measure) {
      for (std::string& cell : study_cells(row)) cells.push_back(std::move(cell));
    } else {
      cells.resize(html.headings.size(), "");
      cells[2] = "refused";
    }
    html.rows.push_back(std::move(cells));
  }
  return html;
}

void add_table(HtmlPage& page, const StudyTable& table) {
  page.heading(fmt::format("{} ({})", table.subject, counted(static_cast<std::uint64_t>(table.elements), "element")));
  page.table(numbers(table));
  std::vector<std::string> reasons;
  for (const StudyRow& row : table.rows) {
    if (!row.measure) reasons.push_back(fmt::format("refused: {}: {}", pair_name(row), row.refused));
  }
  if (!reasons.empty()) page.list(reasons);
  if (table.is_empty()) return;
  page.drawing(scatter(table));
  page.drawing(bars(table, "Products with weights", "relative Frobenius error of X W\u1d40, %", palette::blue,
                    [](const StudyMeasure& measure) { return measure.product_error(); }));
  page.drawing(bars(table, "Deadzone", "elements that the ideal scale makes zero, %", palette::sky,
                    [](const StudyMeasure& measure) { return measure.error.split.deadzone_fraction(); }));
  page.drawing(bars(table, "Made zero", "nonzero elements that became zero, %", palette::sky,
                    [](const StudyMeasure& measure) { return measure.error.split.zeroed_fraction(); }));
  page.drawing(bars(table, "Saturated", "elements that clip, %", palette::orange,
                    [](const StudyMeasure& measure) { return measure.saturated_fraction(); }));
  page.drawing(shares(table));
}

}  // namespace

std::string study_page(const std::vector<StudyTable>& tables, const std::string& description) {
  HtmlPage page("Choosing a 4-bit format", description);
  for (const StudyTable& table : tables) add_table(page, table);
  page.heading("How to read this page");
  page.list({
      "Error: sum of squared errors over sum of squares. Bits: codes, scales, macro bytes and residual parts of one "
      "element; a 2:4 residual counts two codes and four bits of places a group of four.",
      "Dot product: relative Frobenius error of X W\u1d40 in binary64, W being 64 rows of independent Gaussian numbers "
      "under the same profile and corrections, without a residual.",
      "Deadzone: elements that become zero even under the real scale of their block. Made zero: those that did. "
      "Saturated: elements beyond the largest value under their scale.",
      "scale: the coded scale stands in place of the real one. grid: the rounding of all other elements. deadzone and "
      "grid together are what no choice of scale removes. A bar beyond 100 % means that scale and grid partly cancel. "
      "Pairs with a residual are left out there: their error is no longer that of one scale.",
  });
  return page.text();
}

}  // namespace fp4proof::cli
