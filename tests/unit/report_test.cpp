// Charts: what stands where. Numbers are read back from the SVG text.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "conformance/report/bar_chart.h"
#include "conformance/report/chart_page.h"
#include "conformance/report/heat_map.h"
#include "conformance/report/histogram.h"
#include "conformance/report/line_chart.h"
#include "conformance/report/svg.h"
#include "conformance/report/value_axis.h"

namespace fp4proof {
namespace {

struct Rect {
  double x, y, width, height;
};

/// Rectangles of that colour, in the order of the text.
std::vector<Rect> rects(const std::string& svg, const std::string& colour) {
  const std::regex pattern("<rect x=\"([^\"]*)\" y=\"([^\"]*)\" width=\"([^\"]*)\" height=\"([^\"]*)\" fill=\"" +
                           colour + "\"");
  std::vector<Rect> found;
  for (std::sregex_iterator it(svg.begin(), svg.end(), pattern), end; it != end; ++it) {
    found.push_back({std::stod((*it)[1]), std::stod((*it)[2]), std::stod((*it)[3]), std::stod((*it)[4])});
  }
  return found;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Svg, TextIsValidXml) {
  EXPECT_EQ(svg_escaped("a<b>&c"), "a&lt;b&gt;&amp;c");
  EXPECT_EQ(svg_escaped(std::string("a\0b\x01\n", 5)), "a\uFFFDb\uFFFD\uFFFD");
  EXPECT_EQ(svg_escaped("\uFFFE\uFFFF\u00e9"), "\uFFFD\uFFFD\u00e9");
}

TEST(Svg, LongTextLosesItsMiddle) {
  EXPECT_EQ(elided("abcdefg", 7), "abcdefg");
  EXPECT_EQ(elided("abcdefgh", 7), "abc\u2026fgh");
  EXPECT_EQ(elided("\u00e4\u00f6\u00fc\u00df\u00e9", 4), "\u00e4\u2026\u00df\u00e9");
}

TEST(Svg, TicksAreRound) {
  EXPECT_DOUBLE_EQ(tick_step(1, 10), 0.1);
  EXPECT_DOUBLE_EQ(tick_step(251.3, 6), 50);
  EXPECT_DOUBLE_EQ(tick_step(7, 5), 2);
  EXPECT_DOUBLE_EQ(tick_step(0.06, 5), 0.02);
  EXPECT_DOUBLE_EQ(tick_step(61, 6), 20);
  EXPECT_DOUBLE_EQ(tick_step(6000, 5), 2000);
}

TEST(Svg, DrawingsTakeTheirPlaces) {
  const SvgDrawing a{100, 40, "A"};
  const SvgDrawing b{60, 70, "B"};
  const SvgDrawing column = stacked({a, b}, 10);
  EXPECT_EQ(column.width, 100);
  EXPECT_EQ(column.height, 120);
  EXPECT_NE(column.body.find("translate(0.0 50.0)\">\nB"), std::string::npos);
  const SvgDrawing row = side_by_side({a, b}, 10);
  EXPECT_EQ(row.width, 170);
  EXPECT_EQ(row.height, 70);
  EXPECT_NE(row.body.find("translate(110.0 0.0)\">\nB"), std::string::npos);
}

TEST(BarChart, LengthsAreProportional) {
  BarChart chart;
  chart.parts = {{"one", "#111111"}, {"two", "#222222"}};
  chart.number_headings = {"n"};
  chart.rows = {{"first", {30, 60}, {"1"}, false}, {"all", {15, 0}, {"2"}, true}};
  chart.mark = 100;
  const SvgDrawing drawing = draw(chart, 900);
  const auto one = rects(drawing.body, "#111111");
  const auto two = rects(drawing.body, "#222222");
  ASSERT_EQ(one.size(), 3U);  // the legend and two rows
  ASSERT_EQ(two.size(), 3U);
  EXPECT_NEAR(two[1].width, 2 * one[1].width, 0.02);
  EXPECT_NEAR(one[1].x + one[1].width, two[1].x, 0.02);
  EXPECT_NEAR(one[2].width, one[1].width / 2, 0.02);
  EXPECT_EQ(two[2].width, 0);
  EXPECT_GT(one[2].y, one[1].y + one[1].height);
  for (const Rect& rect : {one[1], two[1], one[2]}) EXPECT_LT(rect.x + rect.width, 900 - 92);
  EXPECT_GT(drawing.height, one[2].y + one[2].height);
}

TEST(BarChart, NothingToShowIsNoFault) {
  BarChart chart;
  chart.parts = {{"one", "#111111"}};
  chart.rows = {{"zero", {0}, {}, false}};
  EXPECT_EQ(draw(chart, 900).body.find("nan"), std::string::npos);
}

TEST(Histogram, BinsStandOnEachOther) {
  Histogram histogram;
  histogram.stack = {{"low", "#111111", {1, 0, 4}}, {"high", "#222222", {3, 2, 0}}};
  histogram.outline = {"line", "#333333", {4, 2, 4}};
  histogram.mark = {0.25, "here"};
  const SvgDrawing drawing = draw(histogram, 400, 300);
  const auto low = rects(drawing.body, "#111111");
  const auto high = rects(drawing.body, "#222222");
  ASSERT_EQ(low.size(), 3U);  // the legend and the bins that are not empty
  ASSERT_EQ(high.size(), 3U);
  EXPECT_NEAR(high[1].height, 3 * low[1].height, 0.03);
  EXPECT_NEAR(high[1].y + high[1].height, low[1].y, 0.02);
  EXPECT_NEAR(low[2].height, 4 * low[1].height, 0.05);
  EXPECT_NEAR(low[2].y, high[1].y, 0.02);
  EXPECT_GT(low[2].x, high[2].x);
  EXPECT_NE(drawing.body.find(">here<"), std::string::npos);
}

TEST(HeatMap, ColoursRiseWithTheNumbers) {
  HeatMap map;
  map.rows = 2;
  map.columns = 5;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  map.values = {0, 0, 0, 9, 9, 1, 4.5, nan, 8.9, 8};
  map.x_end = 5;
  map.y_end = 2;
  const std::string svg = draw(map, 400, 300).body;
  const auto cells_of = [&](const std::string& colour) {
    const std::regex path("<path d=\"([^\"]*)\" fill=\"" + colour + "\"");
    std::smatch match;
    return std::regex_search(svg, match, path) ? count(match[1], "M") : 0;
  };
  EXPECT_EQ(cells_of("#440154"), 1U);  // three equal cells in a row are one rectangle
  EXPECT_EQ(cells_of("#472d7b"), 1U);
  EXPECT_EQ(cells_of("#21918c"), 1U);
  EXPECT_EQ(cells_of("#fde725"), 2U);
}

TEST(HeatMap, EqualAndMissingNumbers) {
  HeatMap map;
  map.rows = 1;
  map.columns = 2;
  map.values = {3, 3};
  map.x_end = 2;
  map.y_end = 1;
  EXPECT_EQ(draw(map, 400, 300).body.find("nan"), std::string::npos);
  map.values = {std::nan(""), std::nan("")};
  const std::string svg = draw(map, 400, 300).body;
  EXPECT_EQ(svg.find("<path"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

TEST(ChartPage, HoldsEveryPart) {
  const std::string svg = to_svg(ChartPage{"title", "subtitle", {{200, 50, "DRAWING"}}, {"first", "second"}});
  EXPECT_TRUE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"256\" "));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  for (const char* text : {">title<", ">subtitle<", "DRAWING", ">first<", ">second<"}) EXPECT_EQ(count(svg, text), 1U);
}

TEST(LineChart, DrawsSeriesAndBands) {
  LineChart chart;
  chart.title = "a & b";
  chart.series = {{"s", {0, 1, 2}, {0.0, 0.5, 1.0}}};
  chart.bands = {{0.25, 0.75}};
  const std::string svg = to_svg(chart);
  EXPECT_EQ(count(svg, "<polyline"), 1U);
  EXPECT_EQ(count(svg, "<circle"), 3U);
  EXPECT_EQ(count(svg, "opacity=\"0.15\""), 1U);
  EXPECT_EQ(count(svg, ">a &amp; b<"), 1U);
}

TEST(LineChart, TellsMoreSeriesApartThanThereAreColours) {
  LineChart chart;
  for (int i = 0; i < 10; ++i) chart.series.push_back({std::to_string(i), {0, 1}, {0.0, 1.0}});
  const std::string svg = draw(chart).body;
  std::set<std::string> looks;
  for (std::size_t at = svg.find("stroke=\"#"); at != std::string::npos; at = svg.find("stroke=\"#", at + 1)) {
    looks.insert(svg.substr(at, svg.find("/>", at) - at));
  }
  EXPECT_EQ(count(svg, "<polyline"), 10U);
  EXPECT_GE(looks.size(), 10U);
  EXPECT_EQ(count(svg, "stroke-dasharray"), 2U);
}

std::vector<std::string> texts_of(const ValueAxis& axis) {
  std::vector<std::string> texts;
  for (const AxisTick& tick : axis.ticks()) texts.push_back(tick.text);
  return texts;
}

ValueRange range_of(const std::vector<double>& numbers, bool positive = false) {
  ValueRange range(positive);
  range.add(numbers);
  return range;
}

TEST(ValueAxis, RoundTicksAroundAndWithin) {
  const ValueAxis around = ValueAxis::around(range_of({-0.03, 0.31, 0.1}), 5);
  EXPECT_EQ(texts_of(around), (std::vector<std::string>{"-0.1", "0", "0.1", "0.2", "0.3", "0.4"}));
  EXPECT_DOUBLE_EQ(around.share(-0.1), 0);
  EXPECT_DOUBLE_EQ(around.share(0.4), 1);
  const ValueAxis within = ValueAxis::within(range_of({0, 150}), 4);
  EXPECT_EQ(texts_of(within), (std::vector<std::string>{"0", "50", "100", "150"}));
}

TEST(ValueAxis, EqualAndMissingNumbers) {
  for (const auto& numbers : std::vector<std::vector<double>>{{}, {0}, {-2, -2}, {1e-300}}) {
    const ValueAxis axis = ValueAxis::around(range_of(numbers), 5);
    EXPECT_GE(axis.ticks().size(), 2U);
    for (const double number : numbers) {
      EXPECT_GE(axis.share(number), 0);
      EXPECT_LE(axis.share(number), 1);
    }
  }
}

TEST(ValueAxis, Logarithmic) {
  const ValueAxis wide = ValueAxis::logarithmic(range_of({1e-6, 0, -1, 2e-2}, true));
  EXPECT_EQ(texts_of(wide), (std::vector<std::string>{"1e-6", "1e-5", "0.0001", "0.001", "0.01", "0.1"}));
  EXPECT_DOUBLE_EQ(wide.share(1e-6), 0);
  EXPECT_NEAR(wide.share(1e-2), 0.8, 1e-12);
  const ValueAxis narrow = ValueAxis::logarithmic(range_of({0.03, 0.3}, true));
  EXPECT_EQ(texts_of(narrow), (std::vector<std::string>{"0.02", "0.05", "0.1", "0.2", "0.5"}));
}

LineChart logarithmic_chart() {
  LineChart chart;
  chart.has_log_y = true;
  chart.has_round_x = true;
  chart.series = {{"s", {1, 2, 3}, {0.1, 0, 10}, {0.05, 0, 5}, {0.2, 1, 20}, "currentColor", "4 2", "own"}};
  return chart;
}

TEST(LineChart, LeavesOutWhatALogarithmicAxisHasNoPlaceFor) {
  const std::string svg = draw(logarithmic_chart()).body;
  EXPECT_EQ(count(svg, "<circle"), 2U);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  EXPECT_EQ(count(svg, "<polygon"), 1U);
  EXPECT_EQ(count(svg, ">s at 3: 10 (5 to 20)<"), 1U);
  EXPECT_EQ(count(svg, "<g class=\"own\">"), 1U);
  EXPECT_EQ(count(svg, "stroke-dasharray=\"4 2\""), 1U);
}

TEST(LineChart, FewPointsOfLongSeries) {
  LineChart chart;
  chart.y_step = 0;
  chart.most_points = 10;
  chart.series.resize(1);
  for (int i = 1; i <= 101; ++i) {
    chart.series[0].x.push_back(i);
    chart.series[0].y.push_back(i);
  }
  const std::string svg = draw(chart).body;
  EXPECT_EQ(count(svg, "<circle"), 10U);
  EXPECT_EQ(count(svg, "> at 101: 101<"), 1U);
}

TEST(LineChart, LabelsStayInside) {
  LineChart chart;
  for (const char* name : {"a", "b", "c"}) chart.series.push_back({name, {0, 1}, {1, 0}});
  const std::string svg = draw(chart).body;
  EXPECT_EQ(count(svg, "y=\"424.0\" fill="), 1U);  // at the bottom edge 420
  EXPECT_EQ(count(svg, "y=\"406.0\" fill="), 1U);
  EXPECT_EQ(count(svg, "y=\"388.0\" fill="), 1U);
}

TEST(BarChart, LegendTakesAsManyLinesAsItNeeds) {
  BarChart chart;
  for (int i = 0; i < 12; ++i) chart.parts.push_back({"a part of the bar", "#123456"});
  chart.rows.push_back({"row", std::vector<double>(12, 1.0), {}, false});
  const SvgDrawing several = draw(chart, 700);
  chart.parts.resize(1);
  chart.rows[0].values.resize(1);
  const SvgDrawing one = draw(chart, 700);
  EXPECT_EQ(several.height - one.height, 2 * 18);
}

}  // namespace
}  // namespace fp4proof
