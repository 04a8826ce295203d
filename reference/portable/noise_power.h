#pragma once
// Comparison of powers of binary32 numbers, exact for any exponents: what decides the last bit of a geometric schedule.

#include <cstdint>

#include "formats/magnitude.h"

namespace fp4proof::portable {

/// first^(1 - p/q) * last^(p/q), two positive magnitudes and a fraction of [0, 1] in lowest terms.
struct GeometricMean {
  Magnitude first;
  Magnitude last;
  std::uint32_t p = 0;
  std::uint32_t q = 1;
};

/// Negative, zero or positive as the mean is below, equal to or above `limit` > 0. Significands have at most 32 bits.
/// first and last must differ unless q is 1.
///
/// It compares first^(q - p) last^p with limit^q in truncated products of growing width. Where the two differ the
/// width suffices some time; where they are equal q is small (unequal 24-bit numbers whose ratio is a q-th power have
/// q < 300), and the products become exact.
int compare_with(const GeometricMean& mean, const Magnitude& limit);

}  // namespace fp4proof::portable
