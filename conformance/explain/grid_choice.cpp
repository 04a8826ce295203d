#include "conformance/explain/grid_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/explain/number_text.h"

namespace fp4proof::explain {

using exact::Rational;

namespace {

std::string_view tie_text(Rounding ties) {
  switch (ties) {
    case Rounding::rna: return "a tie, away from zero";
    case Rounding::ties_down: return "a tie, toward zero";
    default: return "a tie, to even";
  }
}

}  // namespace

bool nearest_goes_up(const Between& between, Rounding ties, bool lower_is_even) {
  const int side = between.beyond_tie().sign();
  if (side != 0) return side > 0;
  return ties == Rounding::rna || (ties == Rounding::rne && !lower_is_even);
}

std::string nearest_text(const Between& between, Rounding ties, int digits) {
  if (between.on_grid()) return "exact";
  const Rational beyond = between.beyond_tie();
  if (beyond.is_zero()) return std::string(tie_text(ties));
  return fmt::format("{} the tie {} by {}", beyond.sign() < 0 ? "below" : "above", decimal_text(between.midpoint()),
                     decimal_text(beyond.abs(), digits));
}

Between neighbours_in(const exact::BinaryFormat& format, const Rational& y) {
  if (y.is_zero()) return {y, y, y};
  const int quantum = std::max(y.floor_log2(), format.min_exponent) - format.fraction_bits;
  const Rational lower(y.scaled(-quantum).floor(), 1, quantum);
  return {y, lower, lower == y ? lower : lower + Rational::power_of_two(quantum)};
}

RoundedStep round_step(const exact::BinaryFormat& format, const Rational& y) {
  const Between between = neighbours_in(format, y);
  const Rational value = exact::round_to(format, y).value_or(y);
  if (between.on_grid()) return {value, "exact"};
  return {value, fmt::format("between {} and {}, {}: {}", decimal_text(between.lower), decimal_text(between.upper),
                             nearest_text(between, Rounding::rne), decimal_text(value))};
}

}  // namespace fp4proof::explain
