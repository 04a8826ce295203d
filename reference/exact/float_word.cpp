#include "reference/exact/float_word.h"

#include <algorithm>

namespace fp4proof::exact {
namespace {

/// Whole units of a nonnegative number, rounded in the given direction. The number of half units tells the rest: even,
/// it is below one half; odd, at least one half, and exactly that where no fraction of a half unit is left.
Integer rounded_units(const Rational& units, Direction direction) {
  if (direction == Direction::toward_zero) return units.floor();
  const Rational halves = units.scaled(1);
  const Integer half_count = halves.floor();
  const Integer whole = half_count >> 1;
  if ((half_count & 1) == 0) return whole;
  const bool tie = halves.is_integer();
  const bool up = !tie || (whole & 1) == 1;
  return up ? Integer(whole + 1) : whole;
}

int exponent_bits(const BinaryFormat& format) { return format.bits - 1 - format.fraction_bits; }

std::uint64_t infinity_word(const BinaryFormat& format) {
  return ((std::uint64_t{1} << exponent_bits(format)) - 1) << format.fraction_bits;
}

std::uint64_t sign_bit(const BinaryFormat& format) { return std::uint64_t{1} << (format.bits - 1); }

/// The word of a nonnegative number that the format holds exactly.
std::uint64_t exact_word(const BinaryFormat& format, const Rational& magnitude) {
  if (magnitude.is_zero()) return 0;
  const int exponent = magnitude.floor_log2();
  const int quantum = std::max(exponent, format.min_exponent) - format.fraction_bits;
  const auto units = static_cast<std::uint64_t>(magnitude.scaled(-quantum).floor());
  if (exponent < format.min_exponent) return units;
  const auto field = static_cast<std::uint64_t>(exponent - format.min_exponent + 1);
  return (field << format.fraction_bits) + (units - (std::uint64_t{1} << format.fraction_bits));
}

}  // namespace

std::optional<Rational> round_to(const BinaryFormat& format, const Rational& value, Direction direction) {
  if (value.is_zero()) return Rational();
  const Rational magnitude = value.abs();
  const int exponent = magnitude.floor_log2();
  if (exponent > format.max_exponent) return std::nullopt;
  const int quantum = std::max(exponent, format.min_exponent) - format.fraction_bits;
  const Rational units = magnitude.scaled(-quantum);
  if (units.is_integer()) return value;
  const Rational rounded(rounded_units(units, direction), Integer(1), quantum);
  if (rounded >= Rational::power_of_two(format.max_exponent + 1)) return std::nullopt;
  return value.sign() < 0 ? -rounded : rounded;
}

std::uint64_t word_of(const BinaryFormat& format, const Rational& value) {
  const std::optional<Rational> rounded = round_to(format, value);
  const std::uint64_t sign = value.sign() < 0 ? sign_bit(format) : 0;
  return sign | (rounded ? exact_word(format, rounded->abs()) : infinity_word(format));
}

std::optional<Rational> value_of(const BinaryFormat& format, std::uint64_t word) {
  const std::uint64_t magnitude = word & (sign_bit(format) - 1);
  if (magnitude >= infinity_word(format)) return std::nullopt;
  const auto field = static_cast<int>(magnitude >> format.fraction_bits);
  const std::uint64_t fraction = magnitude & ((std::uint64_t{1} << format.fraction_bits) - 1);
  const std::uint64_t hidden = field == 0 ? 0 : std::uint64_t{1} << format.fraction_bits;
  const int exponent = format.min_exponent + std::max(field, 1) - 1 - format.fraction_bits;
  const Rational value(Integer(hidden + fraction), Integer(1), exponent);
  return (word & sign_bit(format)) != 0 ? -value : value;
}

Rational float_value(std::uint32_t word) { return value_of(binary32, word).value_or(Rational()); }

std::uint32_t round_to_float(const Rational& value) { return static_cast<std::uint32_t>(word_of(binary32, value)); }

std::uint16_t round_to_bf16(const Rational& value) { return static_cast<std::uint16_t>(word_of(bfloat16, value)); }

std::uint32_t round_word_to_bf16(std::uint32_t word) {
  if (is_nan(word) || is_infinity(word)) return word;
  const auto magnitude = static_cast<std::uint32_t>(round_to_bf16(float_value(word & ~float_sign)));
  return (word & float_sign) | (magnitude << 16);
}

}  // namespace fp4proof::exact
