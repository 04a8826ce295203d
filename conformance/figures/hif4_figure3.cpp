#include "conformance/figures/hif4_figure3.h"

#include <algorithm>
#include <span>

#include "formats/philox.h"
#include "formats/spec_profiles.h"
#include "reference/portable/dequantize.h"
#include "reference/portable/quantize.h"

namespace fp4proof {

namespace {

constexpr std::int64_t side = 1024;
constexpr int matrices = 18;

std::vector<float> gaussian(std::uint64_t seed, int x) {
  std::vector<float> values(static_cast<std::size_t>(side * side));
  const float sigma = 0.01F * static_cast<float>(1 << x);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < side * side; ++i) {
    values[static_cast<std::size_t>(i)] =
        sigma * random_normal(seed, Stream::eval, static_cast<std::uint32_t>(x), static_cast<std::uint64_t>(i));
  }
  return values;
}

/// Mean squared error, rows summed on their own and then in order: the same bits for any number of threads.
double mean_squared_error(const Profile& profile, const std::vector<float>& values) {
  const std::array<std::int64_t, 2> shape = {side, side};
  const auto quantized =
      portable::quantize(profile, {portable::DType::f32, shape, reinterpret_cast<const std::byte*>(values.data())});
  const std::vector<float> back = portable::dequantize(profile, quantized.value());
  std::vector<double> rows(side);
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < side; ++row) {
    double sum = 0;
    for (std::int64_t i = row * side; i < (row + 1) * side; ++i) {
      const double e = double{back[static_cast<std::size_t>(i)]} - double{values[static_cast<std::size_t>(i)]};
      sum += e * e;
    }
    rows[static_cast<std::size_t>(row)] = sum;
  }
  double total = 0;
  for (const double row : rows) total += row;
  return total / static_cast<double>(side * side);
}

Figure3Row measure(std::uint64_t seed, int x) {
  const std::vector<float> values = gaussian(seed, x);
  const auto error = [&](std::string_view profile) { return mean_squared_error(*find_profile(profile), values); };
  const double sigma = double{0.01F * static_cast<float>(1 << x)};
  const double hif4 = error("hif4/gcc");
  return {x, hif4 / (sigma * sigma), error("mxfp4/ocp") / hif4, error("nvfp4/tensor-scale") / hif4,
          error("nvfp4/direct") / hif4};
}

Figure3Check check(std::string_view name, const std::vector<Figure3Row>& rows, double Figure3Row::*field, double low,
                   double high) {
  Figure3Check result{name, 0, rows.front().*field, rows.front().*field, low, high};
  for (const Figure3Row& row : rows) {
    result.mean += row.*field / static_cast<double>(rows.size());
    result.lowest = std::min(result.lowest, row.*field);
    result.highest = std::max(result.highest, row.*field);
  }
  return result;
}

}  // namespace

Figure3 hif4_figure3(std::uint64_t seed, const std::function<void()>& done) {
  Figure3 figure;
  for (int x = 0; x < matrices; ++x) {
    figure.rows.push_back(measure(seed, x));
    done();
  }
  figure.checks = {check("HiF4 MSE / sigma^2", figure.rows, &Figure3Row::hif4, 6.80e-3, 6.95e-3),
                   check("MXFP4 / HiF4", figure.rows, &Figure3Row::mxfp4_ratio, 1.87, 1.91),
                   check("NVFP4 with tensor scale / HiF4", figure.rows, &Figure3Row::nvfp4_ratio, 1.30, 1.33)};
  return figure;
}

LineChart figure3_chart(const Figure3& figure) {
  LineChart chart;
  chart.title = "Quantization error relative to HiF4";
  chart.subtitle = "mean squared error of 1024 x 1024 Gaussian matrices, sigma = 0.01 * 2^x; bands: expected ratios";
  chart.x_label = "x";
  chart.y_label = "error / error of HiF4";
  chart.y_low = 0.8;
  chart.y_high = 2.8;
  chart.y_step = 0.2;
  chart.series = {{"MXFP4 (mxfp4/ocp)", {}, {}},
                  {"NVFP4, tensor scale", {}, {}},
                  {"NVFP4, direct", {}, {}},
                  {"HiF4 (hif4/gcc) = 1", {}, {}}};
  for (const Figure3Row& row : figure.rows) {
    for (ChartSeries& series : chart.series) series.x.push_back(row.x);
    chart.series[0].y.push_back(row.mxfp4_ratio);
    chart.series[1].y.push_back(row.nvfp4_ratio);
    chart.series[2].y.push_back(row.nvfp4_direct_ratio);
    chart.series[3].y.push_back(1.0);
  }
  for (std::size_t i = 1; i < figure.checks.size(); ++i) {
    chart.bands.push_back({figure.checks[i].low_bound, figure.checks[i].high_bound});
  }
  return chart;
}

}  // namespace fp4proof
