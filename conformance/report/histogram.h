#pragma once
// A histogram whose bins are stacked from several counts, with an optional outline over it.

#include <optional>
#include <string>
#include <vector>

#include "conformance/report/svg.h"

namespace fp4proof {

/// One number a bin.
struct HistogramSeries {
  std::string name;
  std::string colour;
  std::vector<double> values;
};

/// A vertical line at a place of the x axis, with a short text beside it.
struct HistogramMark {
  double x = 0;
  std::string text;
};

struct Histogram {
  std::string title;
  std::string x_label;
  std::string y_label;  ///< what the height of a bin means, with its unit
  double x_low = 0;
  double x_high = 1;
  std::vector<std::string> bin_labels;  ///< one a bin in place of numbers along the x axis; if empty, numbers
  std::vector<HistogramSeries> stack;   ///< from the ground up; values >= 0, all of the same number of bins
  std::optional<HistogramSeries> outline;
  std::optional<HistogramMark> mark;
};

/// The chart, `width` (>= 300) by `height` (>= 200).
SvgDrawing draw(const Histogram& histogram, double width, double height);

}  // namespace fp4proof
