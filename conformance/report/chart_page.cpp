#include "conformance/report/chart_page.h"

#include <fmt/format.h>

namespace fp4proof {

namespace {

constexpr double margin = 28;
constexpr double head_height = 62;
constexpr double chart_gap = 30;
constexpr double remark_height = 18;

}  // namespace

std::string to_svg(const ChartPage& page) {
  const SvgDrawing charts = stacked(page.drawings, chart_gap);
  SvgDrawing whole;
  whole.width = charts.width + 2 * margin;
  whole.body = svg_text(margin, margin + 12, page.title, "font-size=\"19\" font-weight=\"600\"");
  whole.body +=
      svg_text(margin, margin + 34, page.subtitle, fmt::format("font-size=\"13\" fill=\"{}\"", palette::faint));
  whole.body +=
      fmt::format("<g transform=\"translate({:g} {:g})\">\n{}</g>\n", margin, margin + head_height, charts.body);
  double y = margin + head_height + charts.height + chart_gap;
  for (const std::string& remark : page.remarks) {
    whole.body += svg_text(margin, y, remark, fmt::format("font-size=\"12\" fill=\"{}\"", palette::faint));
    y += remark_height;
  }
  whole.height = y + margin - remark_height;
  return svg_document(whole);
}

}  // namespace fp4proof
