#pragma once
// Where a number stands between two neighbours of a grid, and in words what that decides.

#include <string>

#include "formats/spec.h"
#include "reference/exact/float_word.h"
#include "reference/exact/rational.h"

namespace fp4proof::explain {

/// lower <= y <= upper, two neighbours of a grid; equal where y is on it.
struct Between {
  exact::Rational y;
  exact::Rational lower;
  exact::Rational upper;

  bool on_grid() const { return lower == upper; }
  exact::Rational midpoint() const { return (lower + upper).scaled(-1); }
  /// y - midpoint.
  exact::Rational beyond_tie() const { return y - midpoint(); }
};

/// Whether a nearest rounding (rne, rna, ties_down) takes y up. Not for y on the grid. `lower_is_even` tells which
/// neighbour has the even code.
bool nearest_goes_up(const Between& between, Rounding ties, bool lower_is_even);

/// "exact", "below the tie 0.25 by 0.01", "a tie, to even", ... and the same for the other tie rules. `digits` of the
/// distance.
std::string nearest_text(const Between& between, Rounding ties, int digits = 9);

/// The neighbours of a nonnegative number in a binary format without an upper end.
Between neighbours_in(const exact::BinaryFormat& format, const exact::Rational& y);

/// A number rounded to a binary format, ties to even, and the words that say so.
struct RoundedStep {
  exact::Rational value;
  std::string text;
};
RoundedStep round_step(const exact::BinaryFormat& format, const exact::Rational& y);

}  // namespace fp4proof::explain
