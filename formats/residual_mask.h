#pragma once
// What ranks the elements of a residual, and how many stay. Rules C22 to C24 of docs/rules-corrections.md.

#include <cstdint>

#include "formats/float_bits.h"
#include "formats/magnitude.h"

namespace fp4proof {

/// |value| as a number that orders like it, NaN as 0.
FP4PROOF_HD constexpr std::uint32_t order_of(float value) {
  const std::uint32_t magnitude = float_bits(value) & float_magnitude_mask;
  return is_nan_bits(magnitude) ? 0 : magnitude;
}

/// value^2, exact; NaN gives 0.
FP4PROOF_HD constexpr double square_of(float value) {
  const double wide = is_nan_bits(float_bits(value)) ? 0.0 : double{value};
  return wide * wide;
}

/// C22: flags of four consecutive columns, 1 where an element is kept.
FP4PROOF_HD constexpr void keep_two_of_four(const float* residual, std::uint8_t* kept) {
  for (int i = 0; i < 4; ++i) {
    int larger = 0;  // how many of the four come before element i
    for (int j = 0; j < 4; ++j) {
      const std::uint32_t mine = order_of(residual[i]);
      const std::uint32_t other = order_of(residual[j]);
      larger += other > mine || (other == mine && j < i) ? 1 : 0;
    }
    kept[i] = larger < 2 ? 1 : 0;
  }
}

/// ceil(fraction * count), exact, for a fraction of (0, 1].
FP4PROOF_HD constexpr std::int64_t kept_count(float fraction, std::int64_t count) {
  const Magnitude m = magnitude_of_bits(float_bits(fraction));
  const Magnitude all = product(m, {static_cast<std::uint64_t>(count), 0});
  const std::uint64_t whole = round_to_step(all, 0, Rounding::rtz, 0, 0);
  const bool is_whole = compare(all, {whole, 0}) == 0;
  return static_cast<std::int64_t>(whole) + (is_whole ? 0 : 1);
}

}  // namespace fp4proof
