#pragma once
// The ideal quantizer Q* of one element and the error terms of a decomposition: rules D1 to D5 of
// docs/rules-corrections.md.

#include <cstdint>

#include "formats/element.h"
#include "formats/float_bits.h"
#include "formats/magnitude.h"
#include "formats/spec.h"

namespace fp4proof::decomposition {

/// D5: a row is cut into segments of so many columns, each of which is summed in so many lanes.
inline constexpr std::int64_t segment_columns = 4096;
inline constexpr int sum_lanes = 32;

/// What m, the largest finite magnitude of a block, is coded as: the element's largest value, 7 for HiF4.
FP4PROOF_HD constexpr Magnitude full_scale(const Profile& profile) {
  if (profile.family == Family::hif4) return {7, 0};
  const ElementSpec spec = element_spec(profile.element);
  return element_magnitude(spec, spec.max_code);
}

/// F of rule D3.
FP4PROOF_HD constexpr int factor(const Profile& profile) {
  if (profile.family == Family::hif4) return 7;
  if (profile.element == Element::e2m1) return 6;
  std::uint64_t odd = full_scale(profile).significand;
  while (odd % 2 == 0) odd /= 2;
  return static_cast<int>(odd);
}

/// |word| over the unit m / full scale of a block with m = `largest`.
FP4PROOF_HD constexpr Magnitude over_unit(const Magnitude& full, std::uint32_t word, const Magnitude& largest) {
  return quotient(product(magnitude_of_bits(word), full), largest);
}

/// F Q* of a magnitude code where m is 1 and the level bits are clear: a multiple of a power of two, at most 5
/// significant bits. Under m and level bits F Q* is m * ideal_level * 2^(level bits), exact.
FP4PROOF_HD constexpr double ideal_level(const Profile& profile, std::uint8_t magnitude_code) {
  const Magnitude full = full_scale(profile);
  const Magnitude level = element_magnitude(element_spec(profile.element), magnitude_code);
  const double power_of_two = factor(profile) / (static_cast<double>(full.significand) * pow2d(full.exponent));
  return static_cast<double>(level.significand) * pow2d(level.exponent) * power_of_two;
}

/// F x, F Q(x) and F Q*(x) of one element.
struct ScaledElement {
  double input = 0;
  double quantized = 0;
  double ideal = 0;

  /// Whether x or Q(x) is NaN or infinite (D4).
  FP4PROOF_HD constexpr bool is_excluded() const { return input - input != 0.0 || quantized - quantized != 0.0; }
  FP4PROOF_HD constexpr bool in_deadzone() const { return ideal == 0.0; }
};

/// The terms of one element, F times each. All zero where the element is excluded.
struct ErrorTerms {
  double error = 0;
  double scale = 0;
  double deadzone = 0;
  double grid = 0;
  constexpr bool operator==(const ErrorTerms&) const = default;
};

/// The terms of an element that is not excluded.
FP4PROOF_HD constexpr ErrorTerms terms_of(const ScaledElement& e) {
  const double without_scale = e.ideal - e.input;
  return {e.quantized - e.input, e.quantized - e.ideal, e.in_deadzone() ? without_scale : 0.0,
          e.in_deadzone() ? 0.0 : without_scale};
}

/// Whether a - b is exact. The difference of the one that is smaller in magnitude with the rounded result is exact, so
/// one of the two comparisons finds any error, whichever is smaller.
FP4PROOF_HD constexpr bool is_exact_difference(double a, double b) {
  const double difference = a - b;
  return a - difference == b && difference + b == a;
}

/// Whether none of the differences in terms_of() rounded.
FP4PROOF_HD constexpr bool terms_are_exact(const ScaledElement& e) {
  return is_exact_difference(e.quantized, e.input) && is_exact_difference(e.quantized, e.ideal) &&
         is_exact_difference(e.ideal, e.input);
}

/// What the sums of D5 add, in the order of docs/vectors.md.
inline constexpr int sum_count = 8;
struct Products {
  double of[sum_count];
};

FP4PROOF_HD constexpr Products products_of(const ScaledElement& e, const ErrorTerms& t) {
  return {{e.input * e.input, e.quantized * e.input, t.error * t.error, t.scale * t.scale, t.deadzone * t.deadzone,
           t.grid * t.grid, t.scale * t.grid, t.scale * t.deadzone}};
}

}  // namespace fp4proof::decomposition
