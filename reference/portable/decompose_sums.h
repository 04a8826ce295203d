#pragma once
// The terms of one element and their sums in 32 lanes: rules D3 and D5 of docs/rules-corrections.md.

#include <array>
#include <cstdint>

#include "formats/decomposition.h"
#include "reference/portable/decompose.h"

namespace fp4proof::portable {

using decomposition::ScaledElement;
using decomposition::segment_columns;
using decomposition::sum_lanes;

/// Sums over elements of one segment, or of one row of a block.
class LaneSums {
 public:
  static constexpr std::size_t sum_count = decomposition::sum_count;
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
    const ErrorTerms t = decomposition::terms_of(e);
    count(e, t);
    const auto lane = static_cast<std::size_t>(column % sum_lanes);
    const decomposition::Products products = decomposition::products_of(e, t);
    for (std::size_t k = 0; k < sum_count; ++k) sums_[k][lane] += products.of[k];
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
    counts_.inexact += decomposition::terms_are_exact(e) ? 0 : 1;
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
