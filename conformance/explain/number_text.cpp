#include "conformance/explain/number_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "formats/float_bits.h"
#include "reference/exact/float_word.h"

namespace fp4proof::explain {

using exact::Integer;
using exact::Rational;

namespace {

/// The number as numerator / denominator * 2^exponent, both odd; the value is positive.
struct OddParts {
  Integer numerator;
  Integer denominator;
  int exponent;
};

int strip_twos(Integer& value) {
  const auto twos = static_cast<unsigned>(boost::multiprecision::lsb(value));
  value >>= twos;
  return static_cast<int>(twos);
}

OddParts odd_parts(const Rational& positive) {
  const boost::multiprecision::cpp_rational both = positive.to_cpp_rational();
  OddParts parts{Integer(boost::multiprecision::numerator(both)), Integer(boost::multiprecision::denominator(both)), 0};
  parts.exponent = strip_twos(parts.numerator) - strip_twos(parts.denominator);
  return parts;
}

std::string hex_of(const Integer& odd, int exponent) {
  const auto top = static_cast<int>(boost::multiprecision::msb(odd));
  const int digits = (top + 3) / 4;
  const Integer fraction = (odd - (Integer(1) << static_cast<unsigned>(top)))
                           << static_cast<unsigned>(4 * digits - top);
  std::string text = "0x1";
  if (digits > 0) {
    const std::string tail = fraction.str(0, std::ios_base::hex);
    text += "." + std::string(static_cast<std::size_t>(digits) - tail.size(), '0') + tail;
  }
  return fmt::format("{}p{:+}", text, top + exponent);
}

/// Decimal digits of a positive number, the first one nonzero, worth 10^exponent.
struct Digits {
  std::string text;
  int exponent;
  bool complete;
};

Rational power_of_ten(int exponent) {
  Integer power = 1;
  for (int i = 0; i < std::abs(exponent); ++i) power *= 10;
  return exponent >= 0 ? Rational(power, 1) : Rational(1, power);
}

int floor_log10(const Rational& positive) {
  int guess = static_cast<int>(static_cast<double>(positive.floor_log2()) * 0.30102999566398) - 1;
  while (power_of_ten(guess + 1) <= positive) ++guess;
  return guess;
}

Digits digits_of(const Rational& positive, int count) {
  const int exponent = floor_log10(positive);
  const Rational scaled = positive * power_of_ten(count - 1 - exponent);
  const Integer whole = scaled.floor();
  Digits digits{whole.str(), exponent, scaled == Rational(whole, 1)};
  while (digits.complete && digits.text.size() > 1 && digits.text.back() == '0') digits.text.pop_back();
  return digits;
}

std::string fixed_text(const Digits& digits) {
  const std::string& text = digits.text;
  if (digits.exponent < 0) return "0." + std::string(static_cast<std::size_t>(-digits.exponent - 1), '0') + text;
  const auto whole = static_cast<std::size_t>(digits.exponent) + 1;
  if (text.size() <= whole) return text + std::string(whole - text.size(), '0');
  return text.substr(0, whole) + "." + text.substr(whole);
}

}  // namespace

std::string decimal_text(const Rational& value, int digits) {
  if (value.is_zero()) return "0";
  const Digits parts = digits_of(value.abs(), digits);
  const char* sign = value.sign() < 0 ? "-" : "";
  const char* rest = parts.complete ? "" : "...";
  constexpr int smallest_fixed = -5;
  if (parts.exponent >= smallest_fixed && parts.exponent < digits) {
    return fmt::format("{}{}{}", sign, fixed_text(parts), rest);
  }
  const std::string tail = parts.text.substr(1);
  return fmt::format("{}{}{}{}{}e{}", sign, parts.text[0], tail.empty() ? "" : ".", tail, rest, parts.exponent);
}

std::string exact_text(const Rational& value) {
  if (value.is_zero()) return "0x0p+0";
  const OddParts parts = odd_parts(value.abs());
  const std::string quotient = parts.denominator == 1 ? "" : "/" + parts.denominator.str();
  return (value.sign() < 0 ? "-" : "") + hex_of(parts.numerator, parts.exponent) + quotient;
}

std::string float_text(std::uint32_t word) {
  if (is_nan_bits(word)) return "nan";
  return fmt::format("{}", float_from_bits(word));
}

std::string hex_float_text(std::uint32_t word) {
  if (!is_finite_bits(word)) return float_text(word);
  const std::string sign = (word & float_sign_mask) != 0 ? "-" : "";
  return sign + exact_text(exact::float_value(word & float_magnitude_mask));
}

std::string word_text(std::uint32_t word) { return fmt::format("0x{:08x}", word); }

std::string fields_text(std::uint32_t word) {
  return fmt::format("{:b}.{:08b}.{:023b}", word >> 31, word >> 23 & 0xFFU, word & 0x7FFFFFU);
}

std::string binary_text(std::uint32_t code, int bits) { return fmt::format("{:0{}b}", code, bits); }

}  // namespace fp4proof::explain
