#pragma once
// A matrix of numbers as coloured cells, with the scale of colours beside it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/report/svg.h"

namespace fp4proof {

/// Nine colours from low to high.
enum class HeatColours : std::uint8_t {
  rising_light,  ///< from dark to light (viridis): a quantity
  alarm,         ///< from pale orange to dark red: how bad it is
};

struct HeatMap {
  std::string title;
  std::string subtitle;
  std::string x_label;
  std::string y_label;
  std::string scale_label;  ///< what a colour means, with its unit
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<double> values;  ///< row-major [rows, columns]; NaN: nothing to show
  double x_end = 0;            ///< the axes run from 0 to here, in the units of their labels
  double y_end = 0;
  HeatColours colours = HeatColours::rising_light;
  std::optional<double> low;  ///< where the range starts; nothing: at the lowest number
};

/// The chart, `width` (>= 300) by `height` (>= 200); row 0 on top. The nine colours cut the range evenly; the
/// range leaves out the lowest and the highest fiftieth of the cells, which take the end colours.
SvgDrawing draw(const HeatMap& map, double width, double height);

}  // namespace fp4proof
