#include "reference/exact/element_arithmetic.h"

#include <algorithm>
#include <optional>

#include "reference/exact/float_word.h"

namespace fp4proof::exact {
namespace {

/// The spacing of the element's grid in the binade of y.
Rational grid_step(Element element, const Rational& y) {
  const ElementSpec spec = element_spec(element);
  const int smallest_normal = 1 - spec.bias;
  const int binade = y.is_zero() ? smallest_normal : std::max(y.floor_log2(), smallest_normal);
  return Rational::power_of_two(binade - spec.mantissa_bits);
}

/// floor(z + 0.5) in binary32, z in grid steps; under ties to even an exact tie above an even number goes back down.
std::uint8_t round_by_half_add(const Profile& profile, const Rational& exact_y) {
  const Rational half = Rational::power_of_two(-1);
  const std::optional<Rational> y = round_to(binary32, exact_y);
  if (!y) return element_spec(profile.element).max_code;
  const Rational step = grid_step(profile.element, *y);
  const Rational z = *y / step;
  const std::optional<Rational> sum = round_to(binary32, z + half);
  if (!sum) return element_spec(profile.element).max_code;
  Integer quotient = sum->floor();
  const Rational below = z - half;
  const bool exact_tie = below.sign() >= 0 && Rational(below.floor(), Integer(1)) == below;
  if (profile.rounding == Rounding::rne && exact_tie && below.floor() % 2 == 0) quotient -= 1;
  return encode_magnitude(profile.element, Rounding::rtz, Rational(quotient, Integer(1)) * step);
}

/// The first level in ascending order whose product with the scale is nearest in binary32 arithmetic.
std::uint8_t round_by_distance(const Profile& profile, const Scaled& scaled) {
  std::uint8_t best_code = 0;
  std::optional<Rational> best_distance;
  const std::vector<Rational>& levels = magnitudes(profile.element);
  for (std::size_t code = 0; code < levels.size(); ++code) {
    const std::optional<Rational> product = round_to(binary32, levels[code] * scaled.scale);
    if (!product) continue;
    const std::optional<Rational> distance = round_to(binary32, (*product - scaled.magnitude).abs());
    if (!distance || (best_distance && *distance >= *best_distance)) continue;
    best_distance = distance;
    best_code = static_cast<std::uint8_t>(code);
  }
  return best_code;
}

/// y after the roundings that precede the decision; nothing where one of them overflows.
std::optional<Rational> prerounded(ElementArithmetic arithmetic, const Rational& y) {
  switch (arithmetic) {
    case ElementArithmetic::bf16: return round_to(bfloat16, y);
    case ElementArithmetic::fp32_bf16: {
      const std::optional<Rational> single = round_to(binary32, y);
      return single ? round_to(bfloat16, *single) : std::nullopt;
    }
    case ElementArithmetic::exact:
    case ElementArithmetic::fp32_half_add:
    case ElementArithmetic::fp32_distance: break;
  }
  return y;
}

}  // namespace

std::uint8_t round_scaled(const Profile& profile, const Scaled& scaled, RandomBits random) {
  if (profile.element_arithmetic == ElementArithmetic::fp32_half_add) return round_by_half_add(profile, scaled.y);
  if (profile.element_arithmetic == ElementArithmetic::fp32_distance) return round_by_distance(profile, scaled);
  const std::optional<Rational> y = prerounded(profile.element_arithmetic, scaled.y);
  if (!y) return element_spec(profile.element).max_code;
  return encode_magnitude(profile.element, profile.rounding, *y, random);
}

}  // namespace fp4proof::exact
