// growth_picture LINES PICTURE.svg: time against size, from what `bench_quantize --json LINES` wrote.

#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "conformance/report/line_chart.h"

namespace {

using fp4proof::ChartSeries;

/// The case whose copy of the same bytes is drawn too.
constexpr const char* compared_case = "mxfp4 along columns";

/// Cases that were timed at more than one size, by name.
std::map<std::string, ChartSeries> read_series(std::istream& lines) {
  std::map<std::string, ChartSeries> series;
  const auto add = [&](const std::string& name, double elements, double milliseconds) {
    ChartSeries& one = series[name];
    one.name = name;
    one.x.push_back(std::log2(elements));
    one.y.push_back(std::log10(1000 * milliseconds));
  };
  for (std::string line; std::getline(lines, line);) {
    const auto row = nlohmann::json::parse(line);
    const double elements = row.at("rows").get<double>() * row.at("columns").get<double>();
    const auto name = row.at("case").get<std::string>();
    add(name, elements, row.at("milliseconds").get<double>());
    if (name == compared_case) add("copy of as many bytes", elements, row.at("floor_milliseconds").get<double>());
  }
  std::erase_if(series, [](const auto& entry) { return entry.second.x.size() < 2; });
  // The table's size comes first in the file and again among the sizes.
  for (auto& [name, one] : series) {
    if (one.x.front() > one.x[1]) {
      one.x.erase(one.x.begin());
      one.y.erase(one.y.begin());
    }
  }
  return series;
}

int draw(const char* from, const char* to) {
  std::ifstream lines(from);
  fp4proof::LineChart chart;
  chart.title = "Time of one call against the size of the matrix";
  chart.subtitle = "one GPU, medians of CUDA events, bfloat16 on the unquantized side";
  chart.x_label = "log2 of the number of elements";
  chart.y_label = "log10 of the time in microseconds";
  chart.y_low = 0;
  chart.y_high = 4;
  for (auto& [name, one] : read_series(lines)) chart.series.push_back(one);
  if (chart.series.empty()) {
    std::fprintf(stderr, "growth_picture: %s holds no case at several sizes; write it with bench_quantize --json\n",
                 from);
    return 1;
  }
  std::ofstream picture(to);
  picture << fp4proof::to_svg(chart);
  picture.close();
  if (picture) return 0;
  std::fprintf(stderr, "growth_picture: cannot write %s\n", to);
  return 1;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::fprintf(stderr, "usage: growth_picture LINES PICTURE.svg\n");
    return 2;
  }
  try {
    return draw(words[1], words[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "growth_picture: %s\n", error.what());
    return 1;
  }
}
