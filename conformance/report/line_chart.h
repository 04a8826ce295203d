#pragma once
// A line chart as one self-contained SVG document: no script, no font file, readable in any browser.

#include <string>
#include <vector>

namespace fp4proof {

struct ChartSeries {
  std::string name;
  std::vector<double> x;
  std::vector<double> y;
};

/// A horizontal band that marks where a series should lie.
struct ChartBand {
  double low;
  double high;
};

struct LineChart {
  std::string title;
  std::string subtitle;
  std::string x_label;
  std::string y_label;
  double y_low = 0;
  double y_high = 1;
  double y_step = 1;  ///< distance of the horizontal grid lines
  std::vector<ChartSeries> series;
  std::vector<ChartBand> bands;  ///< same order as the series; may be shorter
};

/// The chart as SVG text. Series are told apart by colour, marker and a label at their right end.
std::string to_svg(const LineChart& chart);

}  // namespace fp4proof
