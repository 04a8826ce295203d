#include "conformance/report/bar_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fp4proof {

namespace {

constexpr double row_height = 20;
constexpr double bar_height = 13;
constexpr double total_gap = 8;
constexpr double title_height = 26;
constexpr double legend_y = 44;
constexpr double legend_line = 18;
constexpr double headings_y = 72;
constexpr double rows_top = 82;
constexpr double character_width = 7;

double length_of(const BarRow& row) {
  double sum = 0;
  for (const double value : row.values) sum += value;
  return sum;
}

class Drawing {
 public:
  Drawing(const BarChart& chart, double width) : chart_(chart), width_(width) {
    const auto numbers = static_cast<double>(chart.number_headings.size());
    bars_width_ = width - chart.label_width - chart.number_width * numbers;
    lower_ = chart.title.empty() ? -title_height : 0;
    legend_ = legend();
    top_ = rows_top + lower_;
    double longest = chart.mark.value_or(0);
    for (const BarRow& row : chart.rows) longest = std::max(longest, length_of(row));
    if (longest <= 0) longest = 1;
    step_ = tick_step(longest, 6);
    high_ = std::ceil(longest / step_ - 1e-9) * step_;
  }

  SvgDrawing result() {
    std::string rows;
    double y = top_;
    for (const BarRow& row : chart_.rows) {
      if (row.is_total) {
        y += total_gap;
        rows += svg_line(0, y - total_gap / 2, width_, y - total_gap / 2, "stroke=\"#999\"");
      }
      rows += bar(row, y);
      y += row_height;
    }
    return {width_, y + 44, head() + axis(y) + rows + mark(y)};
  }

 private:
  double x(double value) const { return chart_.label_width + value / high_ * (bars_width_ - 24); }

  /// Names of the parts, in as many lines as they need; what is below them moves down.
  std::string legend() {
    std::string svg;
    double at = 0;
    for (const BarPart& part : chart_.parts) {
      const double length = 34 + 7.6 * static_cast<double>(part.name.size());
      if (at > 0 && at + length > width_) {
        at = 0;
        lower_ += legend_line;
      }
      svg += svg_rect(at, legend_y + lower_ - 11, 12, 12, part.colour);
      svg += svg_text(at + 18, legend_y + lower_, part.name, "class=\"tick\"");
      at += length;
    }
    return svg;
  }

  std::string head() const {
    std::string svg;
    if (!chart_.title.empty()) svg += svg_text(0, 16, chart_.title, "font-size=\"15\" font-weight=\"600\"");
    svg += legend_;
    for (std::size_t i = 0; i < chart_.number_headings.size(); ++i) {
      svg +=
          svg_text(number_x(i), headings_y + lower_, chart_.number_headings[i], "text-anchor=\"end\" class=\"tick\"");
    }
    return svg;
  }

  double number_x(std::size_t column) const {
    return chart_.label_width + bars_width_ + chart_.number_width * static_cast<double>(column + 1);
  }

  std::string axis(double bottom) const {
    std::string svg;
    const auto lines = static_cast<int>(std::lround(high_ / step_));
    for (int i = 0; i <= lines; ++i) {
      const double at = x(i * step_);
      svg += svg_line(at, top_, at, bottom, fmt::format("stroke=\"{}\"", palette::rule));
      svg += svg_text(at, bottom + 16, fmt::format("{:g}", i * step_), "text-anchor=\"middle\" class=\"tick\"");
    }
    svg += svg_text(x(high_ / 2), bottom + 36, chart_.axis_label, "text-anchor=\"middle\" class=\"label\"");
    return svg;
  }

  std::string bar(const BarRow& row, double top) const {
    const char* weight = row.is_total ? "font-weight=\"600\" " : "";
    const double baseline = top + 13;
    const auto characters = static_cast<std::size_t>(chart_.label_width / character_width);
    std::string svg = svg_text(chart_.label_width - 10, baseline, elided(row.label, characters),
                               fmt::format("{}text-anchor=\"end\" font-size=\"11\"", weight));
    double from = 0;
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      const double to = from + row.values[i];
      svg += svg_rect(x(from), top + 3, x(to) - x(from), bar_height, chart_.parts[i].colour,
                      fmt::format("{}, {}: {:.4g}", row.label, chart_.parts[i].name, row.values[i]));
      from = to;
    }
    for (std::size_t i = 0; i < row.numbers.size(); ++i) {
      svg += svg_text(number_x(i), baseline, row.numbers[i],
                      fmt::format("{}text-anchor=\"end\" font-size=\"11\"", weight));
    }
    return svg;
  }

  std::string mark(double bottom) const {
    if (!chart_.mark) return {};
    return svg_line(x(*chart_.mark), top_ - 4, x(*chart_.mark), bottom,
                    fmt::format("stroke=\"{}\" stroke-width=\"1.5\"", palette::ink));
  }

  const BarChart& chart_;
  double width_;
  double bars_width_;
  double lower_;  ///< what everything below the title stands lower than usual
  double top_;    ///< of the first row
  std::string legend_;
  double step_;
  double high_;
};

}  // namespace

SvgDrawing draw(const BarChart& chart, double width) { return Drawing(chart, width).result(); }

}  // namespace fp4proof
