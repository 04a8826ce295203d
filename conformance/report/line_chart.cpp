#include "conformance/report/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "conformance/report/value_axis.h"

namespace fp4proof {

namespace {

constexpr std::array<const char*, 8> colours = {"#0b6e99", "#c8553d", "#4f8a3c", "#7d5ba6",
                                                "#b8860b", "#555555", "#c2579b", "#6b4226"};
const std::string second_dashes = "7 3";
constexpr int most_y_ticks = 6;
constexpr double x_tick_distance = 60;
constexpr double label_distance = 18;

class Drawing {
 public:
  explicit Drawing(const LineChart& chart)
      : chart_(chart), layout_(chart.layout), x_axis_(x_axis_of(chart)), y_axis_(y_axis_of(chart)) {}

  SvgDrawing result() const {
    std::string svg;
    if (!chart_.title.empty()) {
      svg += svg_text(layout_.left, layout_.top - 42, chart_.title, "font-size=\"18\" font-weight=\"600\"");
    }
    if (!chart_.subtitle.empty()) {
      svg += svg_text(layout_.left, layout_.top - 20, chart_.subtitle, "font-size=\"13\" fill=\"#555\"");
    }
    svg += grid() + x_numbers() + marks();
    for (std::size_t i = 0; i < chart_.series.size(); ++i) svg += band_of(i);
    for (std::size_t i = 0; i < chart_.series.size(); ++i) svg += series_of(i);
    if (layout_.has_end_labels) svg += labels();
    svg += svg_text((layout_.left + right_edge()) / 2, layout_.height - 16, chart_.x_label,
                    "text-anchor=\"middle\" font-size=\"13\"");
    svg += svg_upward_text(20, (layout_.top + bottom_edge()) / 2, chart_.y_label, "font-size=\"13\"");
    return {layout_.width, layout_.height, svg};
  }

 private:
  double right_edge() const { return layout_.width - layout_.right; }
  double bottom_edge() const { return layout_.height - layout_.bottom; }
  double x(double value) const { return layout_.left + x_axis_.share(value) * (right_edge() - layout_.left); }
  double y(double value) const { return bottom_edge() - y_axis_.share(value) * (bottom_edge() - layout_.top); }
  double y_inside(double value) const { return std::clamp(y(value), layout_.top, bottom_edge()); }
  bool is_drawable(double value) const { return std::isfinite(value) && (!chart_.has_log_y || value > 0); }

  /// The points of a series without those that are not drawable, in pieces between gaps.
  std::vector<std::vector<std::size_t>> pieces_of(const std::vector<double>& numbers) const {
    std::vector<std::vector<std::size_t>> pieces(1);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (is_drawable(numbers[i])) pieces.back().push_back(i);
      if (!std::isfinite(numbers[i])) pieces.emplace_back();
    }
    std::erase_if(pieces, [](const auto& piece) { return piece.empty(); });
    return pieces;
  }

  static ValueAxis x_axis_of(const LineChart& chart) {
    ValueRange range;
    if (chart.x_range) range.add(std::array{chart.x_range->low, chart.x_range->high});
    for (const ChartSeries& series : chart.series) range.add(series.x);
    if (!chart.has_round_x)
      return ValueAxis::at(range, chart.series.empty() ? std::vector<double>() : chart.series.front().x);
    const double place = chart.layout.width - chart.layout.left - chart.layout.right;
    return ValueAxis::within(range, std::max(2, static_cast<int>(place / x_tick_distance)));
  }

  static ValueAxis y_axis_of(const LineChart& chart) {
    if (chart.y_step != 0 && !chart.has_log_y) return ValueAxis::fixed(chart.y_low, chart.y_high, chart.y_step);
    ValueRange range(chart.has_log_y);
    range.add(chart.marks_y);
    for (const ChartSeries& series : chart.series) {
      range.add(series.y);
      range.add(series.low);
      range.add(series.high);
    }
    return chart.has_log_y ? ValueAxis::logarithmic(range) : ValueAxis::around(range, most_y_ticks);
  }

  std::string grid() const {
    std::string svg;
    for (const AxisTick& tick : y_axis_.ticks()) {
      const double at = y(tick.value);
      svg += fmt::format("<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n", layout_.left,
                         right_edge(), at, at);
      svg += svg_text(layout_.left - 8, at + 4, tick.text, "text-anchor=\"end\" class=\"tick\"");
    }
    return svg;
  }

  std::string x_numbers() const {
    std::string svg;
    for (const AxisTick& tick : x_axis_.ticks()) {
      svg += svg_text(x(tick.value), bottom_edge() + 18, tick.text, "text-anchor=\"middle\" class=\"tick\"");
    }
    return svg;
  }

  std::string marks() const {
    std::string svg;
    for (const double value : chart_.marks_y) {
      svg += svg_line(layout_.left, y(value), right_edge(), y(value),
                      "class=\"mark\" stroke=\"#777\" stroke-dasharray=\"2 4\"");
    }
    return svg;
  }

  std::string colour_of(std::size_t index) const {
    const std::string& own = chart_.series[index].colour;
    return own.empty() ? colours[index % colours.size()] : own;
  }

  std::string band_of(std::size_t index) const {
    if (index >= chart_.bands.size()) return {};
    const double at = y(chart_.bands[index].high);
    return fmt::format("<rect x=\"{}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\" fill=\"{}\" opacity=\"0.15\"/>\n",
                       layout_.left, at, right_edge() - layout_.left, y(chart_.bands[index].low) - at,
                       colour_of(index));
  }

  std::string series_of(std::size_t index) const {
    const ChartSeries& series = chart_.series[index];
    const std::string drawn = area_of(index) + line_of(index) + points_of(index);
    return series.style_class.empty() ? drawn : fmt::format("<g class=\"{}\">\n{}</g>\n", series.style_class, drawn);
  }

  /// The band around a line: along its upper side and back along its lower one.
  std::string area_of(std::size_t index) const {
    const ChartSeries& series = chart_.series[index];
    std::string svg;
    for (const std::vector<std::size_t>& piece : pieces_of(series.low)) {
      std::string upper;
      std::string lower;
      for (const std::size_t i : piece) {
        upper += fmt::format("{:.1f},{:.1f} ", x(series.x[i]), y_inside(series.high[i]));
        lower.insert(0, fmt::format("{:.1f},{:.1f} ", x(series.x[i]), y_inside(series.low[i])));
      }
      svg += fmt::format("<polygon points=\"{}{}\" fill=\"{}\" opacity=\"0.15\"/>\n", upper, lower, colour_of(index));
    }
    return svg;
  }

  std::string line_of(std::size_t index) const {
    const ChartSeries& series = chart_.series[index];
    const bool has_colour_of_another = series.colour.empty() && index >= colours.size();
    const std::string& kind = series.dashes.empty() && has_colour_of_another ? second_dashes : series.dashes;
    const std::string dashes = kind.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", kind);
    std::string svg;
    for (const std::vector<std::size_t>& piece : pieces_of(series.y)) {
      std::string points;
      for (const std::size_t i : piece) points += fmt::format("{:.1f},{:.1f} ", x(series.x[i]), y_inside(series.y[i]));
      svg += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{:g}\"{}/>\n", points,
                         colour_of(index), layout_.line_width, dashes);
    }
    return svg;
  }

  std::string points_of(std::size_t index) const {
    const ChartSeries& series = chart_.series[index];
    const bool shows_all = series.x.size() <= chart_.most_points;
    const std::size_t stride = shows_all ? 1 : (series.x.size() + chart_.most_points - 1) / chart_.most_points;
    std::string svg;
    for (std::size_t i = (series.x.size() - 1) % stride; i < series.x.size(); i += stride) {
      if (!is_drawable(series.y[i])) continue;
      svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"{} fill=\"{}\"><title>{}</title></circle>\n",
                         x(series.x[i]), y_inside(series.y[i]), shows_all ? 3 : 5, shows_all ? "" : " class=\"point\"",
                         colour_of(index), svg_escaped(point_text(series, i)));
    }
    return svg;
  }

  static std::string point_text(const ChartSeries& series, std::size_t i) {
    const std::string text = fmt::format("{} at {:g}: {:.5g}", series.name, series.x[i], series.y[i]);
    return series.low.empty() ? text : text + fmt::format(" ({:.5g} to {:.5g})", series.low[i], series.high[i]);
  }

  /// Labels at the right end, pushed apart where lines end close together: downwards, and up again from the bottom.
  std::string labels() const {
    struct Label {
      double y;
      std::size_t series;
    };
    std::vector<Label> placed;
    for (std::size_t i = 0; i < chart_.series.size(); ++i) {
      const std::vector<double>& numbers = chart_.series[i].y;
      if (!numbers.empty() && is_drawable(numbers.back())) placed.push_back({y_inside(numbers.back()), i});
    }
    std::sort(placed.begin(), placed.end(), [](const Label& a, const Label& b) { return a.y < b.y; });
    double free = 0;
    for (Label& label : placed) {
      label.y = std::max(label.y, free);
      free = label.y + label_distance;
    }
    double lowest = bottom_edge();
    for (auto label = placed.rbegin(); label != placed.rend(); ++label) {
      label->y = std::min(label->y, lowest);
      lowest = label->y - label_distance;
    }
    std::string svg;
    for (const Label& label : placed) {
      const std::string& own_class = chart_.series[label.series].style_class;
      svg += svg_text(right_edge() + 10, label.y + 4, chart_.series[label.series].name,
                      fmt::format("fill=\"{}\" class=\"{}label\"", colour_of(label.series),
                                  own_class.empty() ? "" : own_class + " "));
    }
    return svg;
  }

  const LineChart& chart_;
  const ChartLayout& layout_;
  ValueAxis x_axis_;
  ValueAxis y_axis_;
};

}  // namespace

SvgDrawing draw(const LineChart& chart) { return Drawing(chart).result(); }

std::string to_svg(const LineChart& chart) { return svg_document(draw(chart)); }

}  // namespace fp4proof
