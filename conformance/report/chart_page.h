#pragma once
// Several charts on one page: a title, rows of drawings, remarks below.

#include <string>
#include <vector>

#include "conformance/report/svg.h"

namespace fp4proof {

struct ChartPage {
  std::string title;
  std::string subtitle;
  std::vector<SvgDrawing> drawings;  ///< one below the other
  std::vector<std::string> remarks;  ///< one line each
};

/// The page as an SVG document, as wide as its widest drawing and a margin.
std::string to_svg(const ChartPage& page);

}  // namespace fp4proof
