#pragma once
// The sum of two binary64 numbers rounded once to binary32.

#include <cmath>

#include "formats/strict_math.h"

namespace fp4proof::portable {

/// RN32(x + y), no rounding in between; NaN and infinities as x + y gives them. Needs a binary64 sum that is zero or
/// normal.
inline float rounded_sum(double x, double y) {
  if (!std::isfinite(x + y)) return static_cast<float>(x + y);
  const bool in_order = std::fabs(x) >= std::fabs(y);
  return static_cast<float>(
      strict::round_to_odd(in_order ? strict::UnevaluatedSum{x, y} : strict::UnevaluatedSum{y, x}));
}

}  // namespace fp4proof::portable
