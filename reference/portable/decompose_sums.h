#pragma once
// The terms of one element and their sums in 32 lanes: rules D3 and D5 of docs/rules-corrections.md.

#include <array>
#include <cmath>
#include <cstdint>

#include "reference/portable/decompose.h"

namespace fp4proof::portable {

inline constexpr int sum_lanes = 32;
inline constexpr std::int64_t segment_columns = 4096;

/// F x, F Q(x) and F Q*(x) of one element.
struct ScaledElement {
  double input = 0;
  double quantized = 0;
  double ideal = 0;

  bool is_excluded() const { return !std::isfinite(input) || !std::isfinite(quantized); }
  bool in_deadzone() const { return ideal == 0.0; }
};

/// The terms of an element that is not excluded.
inline ErrorTerms terms_of(const ScaledElement& e) {
  const double without_scale = e.ideal - e.input;
  return {e.quantized - e.input, e.quantized - e.ideal, e.in_deadzone() ? without_scale : 0.0,
          e.in_deadzone() ? 0.0 : without_scale};
}

/// Whether a - b is exact. The difference of the one that is smaller in magnitude with the rounded result is exact, so
/// one of the two comparisons finds any error, whichever is smaller.
inline bool is_exact_difference(double a, double b) {
  const double difference = a - b;
  return a - difference == b && difference + b == a;
}

/// Sums over elements of one segment, or of one row of a block.
class LaneSums {
 public:
  static constexpr std::size_t sum_count = 8;
  using Lanes = std::array<double, sum_lanes>;

  /// The lanes of every sum, in the order of ErrorSplit from `value` on.
  Lanes* lanes() { return sums_.data(); }
  /// Adds the counts of elements whose products went into the lanes.
  void add_counts(const ErrorSplit& counts) { counts_.add(counts); }

  /// Adds the element that stands at `column` of the segment or block. Returns its terms.
  ErrorTerms add(std::int64_t column, const ScaledElement& e) {
    ++counts_.elements;
    if (e.is_excluded()) {
      ++counts_.excluded;
      return {};
    }
    const ErrorTerms t = terms_of(e);
    count(e, t);
    const auto lane = static_cast<std::size_t>(column % sum_lanes);
    const double products[sum_count] = {e.input * e.input, e.quantized * e.input,   t.error * t.error,
                                        t.scale * t.scale, t.deadzone * t.deadzone, t.grid * t.grid,
                                        t.scale * t.grid,  t.scale * t.deadzone};
    for (std::size_t k = 0; k < sum_count; ++k) sums_[k][lane] += products[k];
    return t;
  }

  /// The lanes folded by xor 16, 8, 4, 2, 1.
  ErrorSplit folded() const {
    ErrorSplit result = counts_;
    double* const targets[sum_count] = {&result.value,      &result.quantized_value, &result.error,
                                        &result.scale,      &result.deadzone,        &result.grid,
                                        &result.scale_grid, &result.scale_deadzone};
    for (std::size_t k = 0; k < sum_count; ++k) *targets[k] = fold(sums_[k]);
    return result;
  }

 private:
  void count(const ScaledElement& e, const ErrorTerms& t) {
    const bool nonzero = e.input != 0.0;
    counts_.in_deadzone += nonzero && e.in_deadzone() ? 1 : 0;
    counts_.zeroed += nonzero && e.quantized == 0.0 ? 1 : 0;
    const bool exact = is_exact_difference(e.quantized, e.input) && is_exact_difference(e.quantized, e.ideal) &&
                       is_exact_difference(e.ideal, e.input);
    counts_.inexact += exact ? 0 : 1;
    counts_.identity_failures += t.error == (t.scale + t.deadzone) + t.grid ? 0 : 1;
  }

  static double fold(Lanes lanes) {
    for (std::size_t width = sum_lanes / 2; width > 0; width /= 2) {
      for (std::size_t lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
    }
    return lanes[0];
  }

  ErrorSplit counts_;
  std::array<Lanes, sum_count> sums_{};
};

}  // namespace fp4proof::portable
