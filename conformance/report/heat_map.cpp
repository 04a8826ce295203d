#include "conformance/report/heat_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace fp4proof {

namespace {

constexpr double left = 66;
constexpr double right = 84;
constexpr double top = 58;
constexpr double bottom = 46;
constexpr double scale_width = 14;

constexpr std::size_t levels = 9;
using Ramp = std::array<const char*, levels>;

/// Viridis: rising lightness, told apart by colour-blind readers and in grey.
constexpr Ramp rising_light = {"#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c",
                               "#28ae80", "#5ec962", "#addc30", "#fde725"};
/// Falling lightness on a light ground.
constexpr Ramp alarm = {"#fed98e", "#fec44f", "#fe9929", "#f4791f", "#e85d10",
                        "#d7301f", "#b30000", "#8b0000", "#5c0011"};
constexpr const char* nothing = "#eeeeee";

struct Range {
  double low = 0;
  double high = 0;

  std::size_t level(double value) const {
    if (high <= low) return 0;
    const double place = (value - low) / (high - low) * static_cast<double>(levels);
    return static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(levels - 1)));
  }
};

Range range_of(const HeatMap& map) {
  std::vector<double> sorted;
  std::copy_if(map.values.begin(), map.values.end(), std::back_inserter(sorted),
               [](double v) { return !std::isnan(v); });
  if (sorted.empty()) return {};
  std::sort(sorted.begin(), sorted.end());
  const std::size_t aside = sorted.size() / 50;
  return {map.low.value_or(sorted[aside]), sorted[sorted.size() - 1 - aside]};
}

class Drawing {
 public:
  Drawing(const HeatMap& map, double width, double height)
      : map_(map),
        width_(width),
        height_(height),
        range_(range_of(map)),
        colours_(map.colours == HeatColours::alarm ? alarm : rising_light) {}

  SvgDrawing result() const {
    return {width_, height_,
            svg_text(0, 16, map_.title, "font-size=\"15\" font-weight=\"600\"") +
                svg_text(left, 41, map_.subtitle, "class=\"tick\"") + axes() + cells() + scale()};
  }

 private:
  double plot_width() const { return width_ - left - right; }
  double plot_height() const { return height_ - top - bottom; }

  std::string axes() const {
    std::string svg;
    const double x_step = std::max(1.0, tick_step(std::max(1.0, map_.x_end), 5));
    for (double value = 0; value <= map_.x_end; value += x_step) {
      svg += svg_text(left + value / map_.x_end * plot_width(), height_ - bottom + 17, fmt::format("{:.0f}", value),
                      "text-anchor=\"middle\" class=\"tick\"");
    }
    const double y_step = std::max(1.0, tick_step(std::max(1.0, map_.y_end), 8));
    for (double value = 0; value <= map_.y_end; value += y_step) {
      svg += svg_text(left - 7, top + value / map_.y_end * plot_height() + 4, fmt::format("{:.0f}", value),
                      "text-anchor=\"end\" class=\"tick\"");
    }
    svg += svg_text(left + plot_width() / 2, height_ - 8, map_.x_label, "text-anchor=\"middle\" class=\"label\"");
    svg += svg_upward_text(10, top + plot_height() / 2, map_.y_label, "class=\"label\"");
    return svg;
  }

  /// One path a colour: runs of equal cells in a row are one rectangle.
  std::string cells() const {
    std::array<std::string, levels> paths;
    const double cell_width = plot_width() / static_cast<double>(std::max<std::size_t>(1, map_.columns));
    const double cell_height = plot_height() / static_cast<double>(std::max<std::size_t>(1, map_.rows));
    for (std::size_t row = 0; row < map_.rows; ++row) {
      for (std::size_t column = 0; column < map_.columns;) {
        const std::size_t begin = column;
        const double value = map_.values[row * map_.columns + begin];
        ++column;
        if (std::isnan(value)) continue;
        const std::size_t level = range_.level(value);
        const auto goes_on = [&](double next) { return !std::isnan(next) && range_.level(next) == level; };
        while (column < map_.columns && goes_on(map_.values[row * map_.columns + column])) ++column;
        paths[level] +=
            fmt::format("M{:.2f} {:.2f}h{:.2f}v{:.2f}h-{:.2f}z", left + static_cast<double>(begin) * cell_width,
                        top + static_cast<double>(row) * cell_height, static_cast<double>(column - begin) * cell_width,
                        cell_height, static_cast<double>(column - begin) * cell_width);
      }
    }
    std::string svg = svg_rect(left, top, plot_width(), plot_height(), nothing);
    svg += "<g shape-rendering=\"crispEdges\">\n";
    for (std::size_t level = 0; level < levels; ++level) {
      if (!paths[level].empty()) svg += fmt::format("<path d=\"{}\" fill=\"{}\"/>\n", paths[level], colours_[level]);
    }
    return svg + "</g>\n";
  }

  std::string scale() const {
    const double x = width_ - right + 16;
    const double step = plot_height() / static_cast<double>(levels);
    std::string svg = svg_text(width_, 41, map_.scale_label, "text-anchor=\"end\" class=\"tick\"");
    for (std::size_t level = 0; level < levels; ++level) {
      svg += svg_rect(x, height_ - bottom - static_cast<double>(level + 1) * step, scale_width, step, colours_[level]);
    }
    const bool is_flat = range_.high <= range_.low;
    for (std::size_t edge = 0; edge <= levels; edge += levels / 3) {
      if (is_flat && edge != 0) break;
      const double value =
          range_.low + (range_.high - range_.low) * static_cast<double>(edge) / static_cast<double>(levels);
      svg += svg_text(x + scale_width + 6, height_ - bottom - static_cast<double>(edge) * step + 4,
                      fmt::format("{:.3g}", value), "class=\"tick\"");
    }
    return svg;
  }

  const HeatMap& map_;
  double width_;
  double height_;
  Range range_;
  const Ramp& colours_;
};

}  // namespace

SvgDrawing draw(const HeatMap& map, double width, double height) { return Drawing(map, width, height).result(); }

}  // namespace fp4proof
