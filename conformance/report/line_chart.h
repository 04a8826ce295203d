#pragma once
// A line chart: a whole SVG document of its own, or a drawing inside a page whose style may colour it.

#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "conformance/report/svg.h"

namespace fp4proof {

/// A point whose y is not finite is a gap in the line.
struct ChartSeries {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;
  /// A band around the line, one number a point each; empty: none.
  std::vector<double> low = {};
  std::vector<double> high = {};
  std::string colour = {};       ///< any that SVG knows; empty: one by its place in the chart
  std::string dashes = {};       ///< as stroke-dasharray; empty: a whole line
  std::string style_class = {};  ///< class of all that is drawn of it; empty: none
};

/// From one number to another; as a horizontal band it marks where a series should lie.
struct ChartBand {
  double low;
  double high;
};

/// Sizes in pixels. The margins hold axes and title, the right one the names of the series.
struct ChartLayout {
  double width = 860;
  double height = 480;
  double left = 76;
  double right = 190;
  double top = 72;
  double bottom = 60;
  double line_width = 2;
  bool has_end_labels = true;  ///< names of the series where their lines end
};

struct LineChart {
  std::string title;     ///< empty: none
  std::string subtitle;  ///< empty: none
  std::string x_label;
  std::string y_label;
  double y_low = 0;
  double y_high = 1;
  double y_step = 1;       ///< distance of the horizontal grid lines; 0: range and grid follow the numbers
  bool has_log_y = false;  ///< decades; range and grid follow the numbers, those <= 0 are left out
  std::optional<ChartBand> x_range = {};  ///< what the x axis holds at least
  bool has_round_x = false;               ///< x axis at round numbers; else at the points of the first series
  std::vector<double> marks_y;            ///< dashed horizontal lines, for example of what is ideal
  /// Series of more points show so many of them, evenly spaced, and only under the pointer (class `point`).
  std::size_t most_points = std::numeric_limits<std::size_t>::max();
  std::vector<ChartSeries> series;
  std::vector<ChartBand> bands;  ///< same order as the series; may be shorter
  ChartLayout layout;
};

/// The chart as a drawing. Series are told apart by colour, dashes, and a label at their right end.
SvgDrawing draw(const LineChart& chart);

/// The chart as SVG text.
std::string to_svg(const LineChart& chart);

}  // namespace fp4proof
