#pragma once
// The ideal quantizer of rule D1 by binary64 arithmetic, for deterministic roundings: one product and a few integer
// operations an element.

#include <cstdint>

#include "formats/decomposition.h"
#include "formats/float_bits.h"
#include "formats/spec.h"

namespace fp4proof::gpu {

/// The grid of an element and a rounding to it, on words of binary64 numbers from `smallest_normal` on: the word plus
/// `bias`, plus `odd_bias` where its last kept bit is set, with the low `drop` bits cleared. A number within 1 part in
/// 2^38 of a tie or grid point counts as that.
struct IdealGrid {
  int drop = 0;
  std::int64_t bias = 0;
  std::int64_t odd_bias = 0;
  double smallest_normal = 0;  ///< below it the step of the grid stays the same
  double largest = 0;          ///< what larger numbers clamp to
  double unit = 0;             ///< F Q* of the element 1 where m is 1: a power of two
};

constexpr IdealGrid ideal_grid(const Profile& profile) {
  const ElementSpec spec = element_spec(profile.element);
  const Magnitude largest = element_magnitude(spec, spec.max_code);
  const Magnitude full = decomposition::full_scale(profile);
  IdealGrid grid;
  grid.drop = 52 - spec.mantissa_bits;
  grid.smallest_normal = pow2d(1 - spec.bias);
  grid.largest = static_cast<double>(largest.significand) * pow2d(largest.exponent);
  grid.unit = decomposition::factor(profile) / (static_cast<double>(full.significand) * pow2d(full.exponent));
  constexpr std::int64_t slack = 1 << 14;
  const std::int64_t half_step = std::int64_t{1} << (grid.drop - 1);
  switch (profile.rounding) {
    case Rounding::rne:
      grid.bias = half_step - slack;
      grid.odd_bias = 2 * slack;
      break;
    case Rounding::rna: grid.bias = half_step + slack; break;
    case Rounding::ties_down: grid.bias = half_step - slack; break;
    case Rounding::rtz: grid.bias = slack; break;
    case Rounding::stochastic: break;
  }
  return grid;
}

/// The element that a non-negative number rounds to. `number` may err by 1 part in 2^40: ratios x full / m either lie
/// on a tie or grid point or differ from it by more than 1 part in 2^30, since x full and m tie are integers of less
/// than 30 bits times a power of two.
FP4PROOF_HD constexpr double ideal_element(const IdealGrid& grid, double number) {
  const bool is_normal = number >= grid.smallest_normal;
  // Below, the smallest normal number is added, which makes the step of the grid that of the first binade.
  const double moved = is_normal ? number : number + grid.smallest_normal;
  const auto word = bits_as<std::int64_t>(moved);
  const bool is_odd = ((word >> grid.drop) & 1) != 0;
  const std::int64_t carried = word + grid.bias + (is_odd ? grid.odd_bias : 0);
  const double rounded = bits_as<double>(carried >> grid.drop << grid.drop);
  const double element = is_normal ? rounded : rounded - grid.smallest_normal;
  return element < grid.largest ? element : grid.largest;
}

}  // namespace fp4proof::gpu
