#include "conformance/report/scatter_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace fp4proof {

namespace {

constexpr double left = 70;
constexpr double right = 280;
constexpr double top = 40;
constexpr double bottom = 54;
constexpr std::array colours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555", "#8b4513"};

class Drawing {
 public:
  Drawing(const ScatterChart& chart, double width, double height) : chart_(chart), width_(width), height_(height) {
    for (const ScatterPoint& point : chart.points) {
      if (point.y > 0) points_.push_back(point);
      if (std::find(groups_.begin(), groups_.end(), point.group) == groups_.end()) groups_.push_back(point.group);
    }
    set_ranges();
  }

  SvgDrawing result() const {
    std::string body = svg_text(0, 16, chart_.title, "font-size=\"15\" font-weight=\"600\"");
    body += x_axis() + y_axis() + front_line() + markers() + front_numbers() + legend();
    body +=
        svg_text((left + width_ - right) / 2, height_ - 10, chart_.x_label, "text-anchor=\"middle\" class=\"label\"");
    body += svg_upward_text(16, (top + height_ - bottom) / 2, chart_.y_label, "class=\"label\"");
    return {width_, height_, body};
  }

 private:
  void set_ranges() {
    double low = 1;
    double high = 1;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      x_low_ = i == 0 ? points_[i].x : std::min(x_low_, points_[i].x);
      x_high_ = i == 0 ? points_[i].x : std::max(x_high_, points_[i].x);
      low = i == 0 ? points_[i].y : std::min(low, points_[i].y);
      high = i == 0 ? points_[i].y : std::max(high, points_[i].y);
    }
    step_ = tick_step(std::max(x_high_ - x_low_, 1.0), 10);
    x_low_ = std::floor(x_low_ / step_ - 0.25) * step_;
    x_high_ = std::ceil(x_high_ / step_ + 0.25) * step_;
    decade_low_ = static_cast<int>(std::floor(std::log10(low)));
    decade_high_ = std::max(decade_low_ + 1, static_cast<int>(std::ceil(std::log10(high))));
  }

  double x(double value) const { return left + (value - x_low_) / (x_high_ - x_low_) * (width_ - left - right); }
  double y(double value) const {
    return height_ - bottom -
           (std::log10(value) - decade_low_) / (decade_high_ - decade_low_) * (height_ - top - bottom);
  }

  std::string x_axis() const {
    std::string svg;
    const auto ticks = static_cast<int>(std::lround((x_high_ - x_low_) / step_));
    for (int i = 0; i <= ticks; ++i) {
      const double at = x(x_low_ + i * step_);
      svg += svg_line(at, top, at, height_ - bottom, fmt::format("stroke=\"{}\"", palette::rule));
      svg += svg_text(at, height_ - bottom + 16, fmt::format("{:g}", x_low_ + i * step_),
                      "text-anchor=\"middle\" class=\"tick\"");
    }
    return svg;
  }

  std::string y_axis() const {
    std::string svg;
    for (int decade = decade_low_; decade <= decade_high_; ++decade) {
      const double at = y(std::pow(10.0, decade));
      svg += svg_line(left, at, width_ - right, at, fmt::format("stroke=\"{}\"", palette::rule));
      svg += svg_text(left - 8, at + 4, fmt::format("1e{}", decade), "text-anchor=\"end\" class=\"tick\"");
    }
    return svg;
  }

  const char* colour_of(const ScatterPoint& point) const {
    const auto group = std::find(groups_.begin(), groups_.end(), point.group);
    return colours[static_cast<std::size_t>(group - groups_.begin()) % colours.size()];
  }

  std::string front_line() const {
    std::string places;
    for (const std::size_t i : front()) places += fmt::format("{:.1f},{:.1f} ", x(points_[i].x), y(points_[i].y));
    return fmt::format(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#999\" stroke-width=\"1.5\" stroke-dasharray=\"5 4\"/>\n",
        places);
  }

  std::string markers() const {
    const std::vector<std::size_t> best = front();
    std::string svg;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const bool is_best = std::find(best.begin(), best.end(), i) != best.end();
      svg += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"{}\" stroke=\"{}\" stroke-width=\"{}\"><title>{}: "
          "{:.4g}, "
          "{:.4g}</title></circle>\n",
          x(points_[i].x), y(points_[i].y), is_best ? 6 : 4, colour_of(points_[i]), is_best ? palette::ink : "white",
          is_best ? 2 : 1, svg_escaped(points_[i].label), points_[i].x, points_[i].y);
    }
    return svg;
  }

  /// The place in the front beside each of its points, every second one below the point.
  std::string front_numbers() const {
    std::string svg;
    const std::vector<std::size_t> best = front();
    for (std::size_t i = 0; i < best.size(); ++i) {
      const ScatterPoint& point = points_[best[i]];
      svg += svg_text(x(point.x), y(point.y) + (i % 2 == 0 ? -10 : 20), fmt::format("{}", i + 1),
                      "text-anchor=\"middle\" font-size=\"11\" font-weight=\"600\"");
    }
    return svg;
  }

  std::string legend() const {
    std::string svg;
    double at = top + 8;
    for (std::size_t i = 0; i < groups_.size(); ++i) {
      svg += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"5\" fill=\"{}\"/>\n", width_ - right + 36, at - 4,
                         colours[i % colours.size()]);
      svg += svg_text(width_ - right + 48, at, elided(groups_[i], 30), "class=\"tick\"");
      at += 18;
    }
    at += 12;
    svg += svg_text(width_ - right + 30, at, "Ringed: no other has less of both", "class=\"tick\"");
    const std::vector<std::size_t> best = front();
    for (std::size_t i = 0; i < best.size(); ++i) {
      at += 16;
      svg += svg_text(width_ - right + 30, at, fmt::format("{}  {}", i + 1, elided(points_[best[i]].label, 34)),
                      "font-size=\"11\"");
    }
    return svg;
  }

  std::vector<std::size_t> front() const { return pareto_front(points_); }

  const ScatterChart& chart_;
  double width_;
  double height_;
  std::vector<ScatterPoint> points_;
  std::vector<std::string> groups_;
  double x_low_ = 0;
  double x_high_ = 0;
  double step_ = 1;
  int decade_low_ = 0;
  int decade_high_ = 1;
};

}  // namespace

std::vector<std::size_t> pareto_front(const std::vector<ScatterPoint>& points) {
  const auto beats = [](const ScatterPoint& a, const ScatterPoint& b) {
    return a.x <= b.x && a.y <= b.y && (a.x < b.x || a.y < b.y);
  };
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool beaten =
        std::any_of(points.begin(), points.end(), [&](const ScatterPoint& other) { return beats(other, points[i]); });
    if (!beaten) front.push_back(i);
  }
  std::stable_sort(front.begin(), front.end(), [&](std::size_t a, std::size_t b) { return points[a].x < points[b].x; });
  return front;
}

SvgDrawing draw(const ScatterChart& chart, double width, double height) {
  return Drawing(chart, width, height).result();
}

}  // namespace fp4proof
