#pragma once
// Horizontal stacked bars, one a row, with a column of names before them and columns of numbers behind them.

#include <optional>
#include <string>
#include <vector>

#include "conformance/report/svg.h"

namespace fp4proof {

/// One part of every bar: what it is called and its colour, any that SVG knows.
struct BarPart {
  std::string name;
  std::string colour;
};

struct BarRow {
  std::string label;
  std::vector<double> values;        ///< one a part, >= 0, in the unit of the axis
  std::vector<std::string> numbers;  ///< one a number column
  bool is_total = false;             ///< set apart by a line above it and strong text
};

struct BarChart {
  std::string title;       ///< empty: none
  std::string axis_label;  ///< what the length of a bar means, with its unit
  std::vector<BarPart> parts;
  std::vector<std::string> number_headings;
  std::vector<BarRow> rows;
  std::optional<double> mark;  ///< a value marked by a dark line through all bars
  double label_width = 310;    ///< of the column of names
  double number_width = 92;    ///< of each column of numbers
};

/// The chart, `width` wide and as high as its rows need. What the columns leave is for the bars: 300 at least.
SvgDrawing draw(const BarChart& chart, double width);

}  // namespace fp4proof
