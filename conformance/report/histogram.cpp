#include "conformance/report/histogram.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace fp4proof {

namespace {

constexpr double left = 58;
constexpr double right = 12;
constexpr double top = 74;
constexpr double bottom = 46;
constexpr int most_ticks_x = 10;
constexpr int most_ticks_y = 5;

class Drawing {
 public:
  Drawing(const Histogram& histogram, double width, double height)
      : histogram_(histogram), width_(width), height_(height) {
    if (!histogram.stack.empty()) bins_ = histogram.stack.front().values.size();
    double highest = 0;
    for (std::size_t bin = 0; bin < bins_; ++bin) {
      double sum = 0;
      for (const HistogramSeries& series : histogram.stack) sum += series.values[bin];
      if (histogram.outline) sum = std::max(sum, histogram.outline->values[bin]);
      highest = std::max(highest, sum);
    }
    if (highest <= 0) highest = 1;
    step_ = tick_step(highest, most_ticks_y);
    high_ = std::ceil(highest / step_ - 1e-9) * step_;
  }

  SvgDrawing result() const { return {width_, height_, head() + axes() + bars() + outline() + mark()}; }

 private:
  double x(double value) const {
    return left + (value - histogram_.x_low) / (histogram_.x_high - histogram_.x_low) * (width_ - left - right);
  }
  double y(double value) const { return height_ - bottom - value / high_ * (height_ - top - bottom); }
  double edge(std::size_t bin) const {
    const double share = static_cast<double>(bin) / static_cast<double>(bins_);
    return x(histogram_.x_low + share * (histogram_.x_high - histogram_.x_low));
  }

  std::string head() const {
    std::string svg = svg_text(0, 16, histogram_.title, "font-size=\"15\" font-weight=\"600\"");
    double at = left;
    const auto entry = [&](const HistogramSeries& series, bool is_line) {
      svg += is_line ? svg_line(at, 36, at + 12, 36, fmt::format("stroke=\"{}\" stroke-width=\"2\"", series.colour))
                     : svg_rect(at, 30, 12, 12, series.colour);
      svg += svg_text(at + 18, 41, series.name, "class=\"tick\"");
      at += 34 + 7.6 * static_cast<double>(series.name.size());
    };
    for (const HistogramSeries& series : histogram_.stack) entry(series, false);
    if (histogram_.outline) entry(*histogram_.outline, true);
    return svg;
  }

  std::string axes() const {
    std::string svg;
    const auto lines = static_cast<int>(std::lround(high_ / step_));
    for (int i = 0; i <= lines; ++i) {
      const double at = y(i * step_);
      svg += svg_line(left, at, width_ - right, at, fmt::format("stroke=\"{}\"", palette::rule));
      svg += svg_text(left - 7, at + 4, fmt::format("{:g}", i * step_), "text-anchor=\"end\" class=\"tick\"");
    }
    svg += histogram_.bin_labels.empty() ? numbers() : labels();
    svg += svg_text((left + width_ - right) / 2, height_ - 8, histogram_.x_label,
                    "text-anchor=\"middle\" class=\"label\"");
    svg += svg_upward_text(14, (top + height_ - bottom) / 2, histogram_.y_label, "class=\"label\"");
    return svg;
  }

  std::string numbers() const {
    std::string svg;
    const double step = tick_step(histogram_.x_high - histogram_.x_low, most_ticks_x);
    const auto ticks = static_cast<int>(std::floor((histogram_.x_high - histogram_.x_low) / step + 1e-9));
    for (int i = 0; i <= ticks; ++i) {
      const double value = histogram_.x_low + i * step;
      svg += svg_text(x(value), height_ - bottom + 17, fmt::format("{:.6g}", value),
                      "text-anchor=\"middle\" class=\"tick\"");
    }
    return svg;
  }

  std::string labels() const {
    std::string svg;
    for (std::size_t bin = 0; bin < histogram_.bin_labels.size(); ++bin) {
      svg += svg_text((edge(bin) + edge(bin + 1)) / 2, height_ - bottom + 17, histogram_.bin_labels[bin],
                      "text-anchor=\"middle\" class=\"tick\"");
    }
    return svg;
  }

  std::string bars() const {
    std::string svg;
    for (std::size_t bin = 0; bin < bins_; ++bin) {
      double from = 0;
      for (const HistogramSeries& series : histogram_.stack) {
        const double value = series.values[bin];
        if (value <= 0) continue;
        svg += svg_rect(edge(bin) + 0.5, y(from + value), edge(bin + 1) - edge(bin) - 1, y(from) - y(from + value),
                        series.colour, fmt::format("{}: {:.4g}", series.name, value));
        from += value;
      }
    }
    return svg;
  }

  std::string outline() const {
    if (!histogram_.outline) return {};
    std::string points;
    for (std::size_t bin = 0; bin < bins_; ++bin) {
      const double at = y(histogram_.outline->values[bin]);
      points += fmt::format("{:.1f},{:.1f} {:.1f},{:.1f} ", edge(bin), at, edge(bin + 1), at);
    }
    return fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.5\"/>\n", points,
                       histogram_.outline->colour);
  }

  std::string mark() const {
    if (!histogram_.mark) return {};
    const double at = x(histogram_.mark->x);
    const bool on_the_right = at < (left + width_ - right) / 2;
    return svg_line(at, top - 20, at, height_ - bottom,
                    fmt::format("stroke=\"{}\" stroke-dasharray=\"4 3\"", palette::ink)) +
           svg_text(at + (on_the_right ? 6 : -6), top - 10, histogram_.mark->text,
                    fmt::format("text-anchor=\"{}\" font-size=\"12\"", on_the_right ? "start" : "end"));
  }

  const Histogram& histogram_;
  double width_;
  double height_;
  std::size_t bins_ = 0;
  double step_ = 1;
  double high_ = 1;
};

}  // namespace

SvgDrawing draw(const Histogram& histogram, double width, double height) {
  return Drawing(histogram, width, height).result();
}

}  // namespace fp4proof
