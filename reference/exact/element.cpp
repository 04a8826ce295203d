#include "reference/exact/element.h"

#include <algorithm>
#include <array>

#include "reference/exact/float_word.h"

namespace fp4proof::exact {
namespace {

struct Grid {
  std::vector<Rational> levels;
  std::vector<Rational> midpoints;  ///< midpoints[c] stands between levels c and c + 1
};

Rational magnitude_of_code(const ElementSpec& spec, int code) {
  const int field = code >> spec.mantissa_bits;
  const int fraction = code & ((1 << spec.mantissa_bits) - 1);
  const int unit = 1 - spec.bias - spec.mantissa_bits;
  if (field == 0) return Rational(fraction).scaled(unit);
  return Rational((1 << spec.mantissa_bits) + fraction).scaled(unit + field - 1);
}

Grid make_grid(Element element) {
  const ElementSpec spec = element_spec(element);
  Grid grid;
  for (int code = 0; code <= spec.max_code; ++code) grid.levels.push_back(magnitude_of_code(spec, code));
  for (std::size_t c = 0; c + 1 < grid.levels.size(); ++c)
    grid.midpoints.push_back((grid.levels[c] + grid.levels[c + 1]).scaled(-1));
  return grid;
}

const Grid& grid_of(Element element) {
  static const std::array<Grid, element_count> grids = [] {
    std::array<Grid, element_count> all;
    for (std::size_t i = 0; i < element_count; ++i) all[i] = make_grid(static_cast<Element>(i));
    return all;
  }();
  return grids[static_cast<std::size_t>(element)];
}

/// The decision of a tie between magnitude codes c and c + 1: whether it goes up.
bool tie_goes_up(Rounding rounding, std::uint8_t low) {
  switch (rounding) {
    case Rounding::rne: return low % 2 == 1;
    case Rounding::rna: return true;
    case Rounding::ties_down: return false;
    case Rounding::rtz: return false;
    case Rounding::stochastic: return false;
  }
  return false;
}

bool goes_up(Element element, Rounding rounding, const Rational& y, std::uint8_t low, RandomBits random) {
  if (rounding == Rounding::rtz) return false;
  if (rounding == Rounding::stochastic)
    return stochastic_numerator(element, y, random.bits) + Integer(random.value) >= Integer(1) << random.bits;
  const std::strong_ordering order = y <=> grid_of(element).midpoints[low];
  return order > 0 || (order == 0 && tie_goes_up(rounding, low));
}

}  // namespace

const std::vector<Rational>& magnitudes(Element element) { return grid_of(element).levels; }

const Rational& largest(Element element) { return magnitudes(element).back(); }

CodeKind kind_of_code(Element element, std::uint8_t code) {
  const ElementSpec spec = element_spec(element);
  const int magnitude = code & (spec.sign_mask() - 1);
  if (magnitude <= spec.max_code) return CodeKind::finite;
  return spec.inf_code != 0 && magnitude == spec.inf_code ? CodeKind::infinity : CodeKind::nan;
}

bool code_is_negative(Element element, std::uint8_t code) { return (code & element_spec(element).sign_mask()) != 0; }

Rational value_of_code(Element element, std::uint8_t code) {
  const auto magnitude = static_cast<std::size_t>(code & (element_spec(element).sign_mask() - 1));
  const Rational& value = magnitudes(element)[magnitude];
  return code_is_negative(element, code) ? -value : value;
}

Neighbours neighbours(Element element, const Rational& y) {
  const std::vector<Rational>& levels = magnitudes(element);
  const auto above = std::upper_bound(levels.begin(), levels.end(), y);
  const auto high = static_cast<std::uint8_t>(above - levels.begin());
  const auto low = static_cast<std::uint8_t>(high - 1);
  if (above == levels.end() || levels[low] == y) return {low, low};
  return {low, high};
}

RandomBits random_bits_of_word(std::uint32_t word, int bits) { return {word >> (32 - bits), bits}; }

Integer stochastic_numerator(Element element, const Rational& y, int bits) {
  const auto [low, high] = neighbours(element, y);
  if (low == high) return 0;
  const std::vector<Rational>& levels = magnitudes(element);
  const Rational fraction = (y - levels[low]) / (levels[high] - levels[low]);
  return fraction.scaled(bits).floor();
}

Rational probability_up(Element element, const Rational& y, int bits) {
  return Rational(stochastic_numerator(element, y, bits), Integer(1), -bits);
}

std::uint8_t encode_magnitude(Element element, Rounding rounding, const Rational& y, RandomBits random) {
  const auto [low, high] = neighbours(element, y);
  if (low == high) return low;
  return goes_up(element, rounding, y, low, random) ? high : low;
}

std::optional<std::uint32_t> threshold_word(Element element, Rounding rounding, std::uint8_t code, RandomBits random) {
  const auto reaches = [&](std::uint32_t word) {
    return encode_magnitude(element, rounding, float_value(word), random) >= code;
  };
  constexpr std::uint32_t largest_finite = float_infinity - 1;
  if (!reaches(largest_finite)) return std::nullopt;
  std::uint32_t first = 0;
  std::uint32_t last = largest_finite;
  while (first < last) {
    const std::uint32_t middle = first + (last - first) / 2;
    if (reaches(middle))
      last = middle;
    else
      first = middle + 1;
  }
  return first;
}

}  // namespace fp4proof::exact
