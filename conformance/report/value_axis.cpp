#include "conformance/report/value_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "conformance/report/svg.h"

namespace fp4proof {

namespace {

constexpr double rounding = 1e-9;  // of a quotient that should be whole
constexpr int few_decades = 2;
constexpr std::array<double, 3> factors = {1, 2, 5};

double power_of_ten(int exponent) { return std::pow(10.0, exponent); }

std::string log_text(double factor, int exponent) {
  return exponent < -4 || exponent > 4 ? fmt::format("{:g}e{}", factor, exponent)
                                       : fmt::format("{:g}", factor * power_of_ten(exponent));
}

}  // namespace

void ValueRange::add(std::span<const double> numbers) {
  for (const double number : numbers) {
    if (!std::isfinite(number) || (positive_ && number <= 0)) continue;
    low_ = empty_ ? number : std::min(low_, number);
    high_ = empty_ ? number : std::max(high_, number);
    empty_ = false;
  }
}

ValueAxis ValueAxis::fixed(double low, double high, double step) {
  ValueAxis axis(low, high, false);
  const auto parts = static_cast<int>(std::lround((high - low) / step));
  for (int i = 0; i <= parts; ++i) axis.ticks_.push_back({low + i * step, fmt::format("{:.4g}", low + i * step)});
  return axis;
}

ValueAxis ValueAxis::at(const ValueRange& range, std::span<const double> ticks) {
  ValueAxis axis(range.low(), range.high() <= range.low() ? range.low() + 1 : range.high(), false);
  for (const double value : ticks) axis.ticks_.push_back({value, fmt::format("{:g}", value)});
  return axis;
}

ValueAxis ValueAxis::within(const ValueRange& range, int most) {
  ValueAxis axis = at(range, {});
  const double step = tick_step(axis.high_ - axis.low_, most);
  axis.add_ticks(std::ceil(axis.low_ / step - rounding), std::floor(axis.high_ / step + rounding), step);
  return axis;
}

ValueAxis ValueAxis::around(const ValueRange& range, int most) {
  double low = range.low();
  double high = range.is_empty() ? 1 : range.high();
  if (high <= low) {
    const double half = low == 0 ? 1 : std::abs(low) / 2;
    low -= half;
    high += half;
  }
  const double step = tick_step(high - low, most);
  const double first = std::floor(low / step + rounding);
  const double last = std::ceil(high / step - rounding);
  ValueAxis axis(first * step, last * step, false);
  axis.add_ticks(first, last, step);
  return axis;
}

ValueAxis ValueAxis::logarithmic(const ValueRange& range) {
  const double low = range.is_empty() ? 1 : range.low();
  const double high = range.is_empty() ? 1 : range.high();
  const auto first = static_cast<int>(std::floor(std::log10(low) + rounding));
  const int last = std::max(first + 1, static_cast<int>(std::ceil(std::log10(high) - rounding)));
  const std::size_t used = last - first <= few_decades ? factors.size() : 1;
  std::vector<AxisTick> ticks;
  for (int exponent = first; exponent <= last; ++exponent) {
    for (std::size_t i = 0; i < (exponent == last ? 1 : used); ++i) {
      ticks.push_back({factors[i] * power_of_ten(exponent), log_text(factors[i], exponent)});
    }
  }
  while (ticks.size() > 2 && ticks[1].value <= low) ticks.erase(ticks.begin());
  while (ticks.size() > 2 && ticks[ticks.size() - 2].value >= high) ticks.pop_back();
  ValueAxis axis(ticks.front().value, ticks.back().value, true);
  axis.ticks_ = std::move(ticks);
  return axis;
}

double ValueAxis::share(double value) const {
  if (!logarithmic_) return (value - low_) / (high_ - low_);
  return std::log10(value / low_) / std::log10(high_ / low_);
}

void ValueAxis::add_ticks(double from, double to, double step) {
  for (double i = from; i <= to; ++i) {
    const double value = i * step + 0.0;  // never -0
    ticks_.push_back({value, fmt::format("{:.6g}", value)});
  }
}

}  // namespace fp4proof
