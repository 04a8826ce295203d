#pragma once
// Some numbers and what is said of them together. Sums are binary64, in order.

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace fp4proof::training_report {

/// The mean of at least one number. A NaN has no sign, so that texts of it are the same on every machine.
inline double mean_of(std::span<const double> numbers) {
  double sum = 0;
  for (const double number : numbers) sum += number;
  return std::isnan(sum) ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(numbers.size());
}

/// The number, or nothing where it is not finite.
inline std::optional<double> finite_or_nothing(double number) {
  return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

/// Numbers of which some runs have none. All but add() and mean_or_nothing() need one number at least.
struct Numbers {
  std::vector<double> values;

  void add(std::optional<double> value) {
    if (value) values.push_back(*value);
  }
  double low() const { return *std::ranges::min_element(values); }
  double high() const { return *std::ranges::max_element(values); }
  double mean() const { return mean_of(values); }
  std::optional<double> mean_or_nothing() const {
    return values.empty() ? std::nullopt : std::optional<double>(mean());
  }
};

}  // namespace fp4proof::training_report
