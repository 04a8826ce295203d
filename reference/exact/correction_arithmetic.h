#pragma once
// Binary32 operations that corrections need beside those of extended.h, each rounded once.

#include <cstdint>

#include "reference/exact/rational.h"

namespace fp4proof::exact {

/// a - b in binary32 arithmetic, ties to even; equal numbers give +0.
std::uint32_t subtract_floats(std::uint32_t a, std::uint32_t b);

/// a / divisor rounded to binary32, ties to even; the divisor is positive. The sign of zero stays; NaN gives
/// 0x7FC00000.
std::uint32_t divide_float(std::uint32_t a, const Rational& divisor);

}  // namespace fp4proof::exact
