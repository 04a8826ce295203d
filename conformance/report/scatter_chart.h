#pragma once
// Points over two quantities of which less is better, with those marked that no other point beats.

#include <cstddef>
#include <string>
#include <vector>

#include "conformance/report/svg.h"

namespace fp4proof {

struct ScatterPoint {
  std::string label;
  std::string group;  ///< points of one group share a colour
  double x = 0;
  double y = 0;  ///< above 0: the axis is logarithmic
};

struct ScatterChart {
  std::string title;
  std::string x_label;
  std::string y_label;
  std::vector<ScatterPoint> points;
};

/// The points that no other point equals or beats in x and y while beating it in one, by rising x (then as given).
/// These form the Pareto front.
std::vector<std::size_t> pareto_front(const std::vector<ScatterPoint>& points);

/// The chart, `width` (>= 600) by `height` (>= 300). The Pareto front is ringed, joined by a line and listed at the
/// right; every point shows its label and numbers under the pointer. Points whose y is not above 0 are left out.
SvgDrawing draw(const ScatterChart& chart, double width, double height);

}  // namespace fp4proof
