// The Pareto front, and what a scatter chart draws of it.

#include "conformance/report/scatter_chart.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace fp4proof {
namespace {

using Front = std::vector<std::size_t>;

ScatterPoint at(double x, double y) { return {"p", "g", x, y}; }

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t i = text.find(word); i != std::string::npos; i = text.find(word, i + word.size())) ++found;
  return found;
}

TEST(ParetoFront, LeavesOutWhatIsBeaten) {
  EXPECT_EQ(pareto_front({}), Front{});
  EXPECT_EQ(pareto_front({at(4, 1)}), Front{0});
  EXPECT_EQ(pareto_front({at(4, 1), at(5, 2)}), Front{0});
  EXPECT_EQ(pareto_front({at(5, 1), at(4, 2)}), (Front{1, 0}));
  EXPECT_EQ(pareto_front({at(8, 0.1), at(4, 2), at(6, 3), at(6, 1), at(9, 0.1)}), (Front{1, 3, 0}));
}

TEST(ParetoFront, EqualPointsStayTogether) {
  EXPECT_EQ(pareto_front({at(4, 1), at(4, 1)}), (Front{0, 1}));
  EXPECT_EQ(pareto_front({at(4, 2), at(4, 1)}), Front{1});
}

TEST(ScatterChart, RingsTheFrontAndLeavesOutZeros) {
  ScatterChart chart;
  chart.points = {{"best <of> all", "a", 4, 0.01}, {"beaten", "b", 5, 0.02}, {"zero", "b", 5, 0}};
  const SvgDrawing drawing = draw(chart, 800, 400);
  EXPECT_EQ(drawing.width, 800);
  EXPECT_EQ(count(drawing.body, "<title>"), 2U);
  EXPECT_EQ(count(drawing.body, "r=\"6\""), 1U);
  EXPECT_NE(drawing.body.find("best &lt;of&gt; all"), std::string::npos);
  EXPECT_EQ(drawing.body.find("nan"), std::string::npos);
}

TEST(ScatterChart, NothingToShow) {
  const SvgDrawing drawing = draw({}, 800, 400);
  EXPECT_EQ(drawing.body.find("nan"), std::string::npos);
  EXPECT_EQ(drawing.body.find("inf"), std::string::npos);
}

}  // namespace
}  // namespace fp4proof
