#pragma once
// Elements by enumeration: the value of every code, the neighbours of a real number on the grid, and the rounding
// decision between them, each tie spelled out.

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/spec.h"
#include "reference/exact/rational.h"

namespace fp4proof::exact {

/// The values of magnitude codes 0 .. max_code, ascending.
const std::vector<Rational>& magnitudes(Element element);
/// The largest finite value.
const Rational& largest(Element element);

/// What a code with its sign bit means.
enum class CodeKind : std::uint8_t { finite, infinity, nan };
CodeKind kind_of_code(Element element, std::uint8_t code);
/// Whether the sign bit of a code is set.
bool code_is_negative(Element element, std::uint8_t code);
/// The value of a finite code, sign included; the negative zero code has value 0.
Rational value_of_code(Element element, std::uint8_t code);

/// The magnitude codes around y >= 0: value(low) <= y <= value(high), low == high where y is on the grid. Above the
/// largest finite value both are max_code.
struct Neighbours {
  std::uint8_t low;
  std::uint8_t high;
};
Neighbours neighbours(Element element, const Rational& y);

/// The random bits that a stochastic decision spends: `value` uniform in [0, 2^bits).
struct RandomBits {
  std::uint32_t value = 0;
  int bits = 32;
};

/// The high `bits` bits of a 32-bit random word.
RandomBits random_bits_of_word(std::uint32_t word, int bits);

/// floor(2^bits * (y - low) / (high - low)): how many of the 2^bits random values round y up. 0 on the grid.
Integer stochastic_numerator(Element element, const Rational& y, int bits);

/// The exact probability that stochastic rounding with that many bits takes y to its upper neighbour.
Rational probability_up(Element element, const Rational& y, int bits);

/// The magnitude code of y >= 0. `random` is used by Rounding::stochastic alone.
std::uint8_t encode_magnitude(Element element, Rounding rounding, const Rational& y, RandomBits random = {});

/// The smallest nonnegative finite binary32 word that encodes, at scale 1, to a magnitude code of at least `code`.
/// Nothing where no finite word does. Encoding never decreases with the word, so thresholds say everything.
std::optional<std::uint32_t> threshold_word(Element element, Rounding rounding, std::uint8_t code,
                                            RandomBits random = {});

}  // namespace fp4proof::exact
