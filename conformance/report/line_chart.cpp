#include "conformance/report/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "conformance/report/svg.h"

namespace fp4proof {

namespace {

constexpr double width = 860;
constexpr double height = 480;
constexpr double left = 76;
constexpr double right = 190;
constexpr double top = 72;
constexpr double bottom = 60;
constexpr std::array<const char*, 6> colours = {"#0b6e99", "#c8553d", "#4f8a3c", "#7d5ba6", "#b8860b", "#555555"};

/// Maps chart numbers to places on the page.
struct Frame {
  double x_low, x_high, y_low, y_high;
  double x(double value) const { return left + (value - x_low) / (x_high - x_low) * (width - left - right); }
  double y(double value) const {
    return height - bottom - (value - y_low) / (y_high - y_low) * (height - top - bottom);
  }
};

Frame frame_of(const LineChart& chart) {
  Frame frame{0, 1, chart.y_low, chart.y_high};
  bool first = true;
  for (const ChartSeries& series : chart.series) {
    for (const double x : series.x) {
      frame.x_low = first ? x : std::min(frame.x_low, x);
      frame.x_high = first ? x : std::max(frame.x_high, x);
      first = false;
    }
  }
  if (frame.x_high <= frame.x_low) frame.x_high = frame.x_low + 1;
  return frame;
}

std::string grid(const LineChart& chart, const Frame& frame) {
  std::string svg;
  const auto lines = static_cast<int>(std::lround((chart.y_high - chart.y_low) / chart.y_step));
  for (int i = 0; i <= lines; ++i) {
    const double value = chart.y_low + i * chart.y_step;
    const double y = frame.y(value);
    svg += fmt::format("<line x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#ddd\"/>\n", left, width - right,
                       y, y);
    svg += svg_text(left - 8, y + 4, fmt::format("{:.4g}", value), "text-anchor=\"end\" class=\"tick\"");
  }
  if (chart.series.empty()) return svg;
  for (const double value : chart.series.front().x) {
    svg += svg_text(frame.x(value), height - bottom + 18, fmt::format("{:g}", value),
                    "text-anchor=\"middle\" class=\"tick\"");
  }
  return svg;
}

std::string band_of(const LineChart& chart, const Frame& frame, std::size_t index) {
  if (index >= chart.bands.size()) return {};
  const double y = frame.y(chart.bands[index].high);
  return fmt::format("<rect x=\"{}\" y=\"{:.1f}\" width=\"{}\" height=\"{:.1f}\" fill=\"{}\" opacity=\"0.15\"/>\n",
                     left, y, width - left - right, frame.y(chart.bands[index].low) - y,
                     colours[index % colours.size()]);
}

std::string line_of(const ChartSeries& series, const Frame& frame, std::size_t index) {
  const char* colour = colours[index % colours.size()];
  std::string points;
  std::string markers;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const double x = frame.x(series.x[i]);
    const double y = std::clamp(frame.y(series.y[i]), top, height - bottom);
    points += fmt::format("{:.1f},{:.1f} ", x, y);
    markers += fmt::format(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"><title>{} at {:g}: {:.5g}</title></circle>\n", x, y,
        colour, svg_escaped(series.name), series.x[i], series.y[i]);
  }
  return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", points, colour) +
         markers;
}

/// Labels at the right end, pushed apart where lines end close together.
std::string labels(const LineChart& chart, const Frame& frame) {
  struct Label {
    double y;
    std::size_t series;
  };
  std::vector<Label> placed;
  for (std::size_t i = 0; i < chart.series.size(); ++i) {
    if (!chart.series[i].y.empty())
      placed.push_back({std::clamp(frame.y(chart.series[i].y.back()), top, height - bottom), i});
  }
  std::sort(placed.begin(), placed.end(), [](const Label& a, const Label& b) { return a.y < b.y; });
  std::string svg;
  double free = 0;
  for (const Label& label : placed) {
    const double y = std::max(label.y, free);
    free = y + 18;
    svg += svg_text(width - right + 10, y + 4, chart.series[label.series].name,
                    fmt::format("fill=\"{}\" class=\"label\"", colours[label.series % colours.size()]));
  }
  return svg;
}

}  // namespace

std::string to_svg(const LineChart& chart) {
  const Frame frame = frame_of(chart);
  std::string svg;
  svg += svg_text(left, 30, chart.title, "font-size=\"18\" font-weight=\"600\"");
  svg += svg_text(left, 52, chart.subtitle, "font-size=\"13\" fill=\"#555\"");
  svg += grid(chart, frame);
  for (std::size_t i = 0; i < chart.series.size(); ++i) svg += band_of(chart, frame, i);
  for (std::size_t i = 0; i < chart.series.size(); ++i) svg += line_of(chart.series[i], frame, i);
  svg += labels(chart, frame);
  svg += svg_text((left + width - right) / 2, height - 16, chart.x_label, "text-anchor=\"middle\" font-size=\"13\"");
  svg += svg_upward_text(20, (top + height - bottom) / 2, chart.y_label, "font-size=\"13\"");
  return svg_document({width, height, svg});
}

}  // namespace fp4proof
