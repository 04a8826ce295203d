#pragma once
// Exact rational numbers of the oracle: numerator / denominator * 2^exponent on unlimited integers. The power of two is
// kept apart so that a binary32 near 2^-149 stays a small integer. Nothing here ever rounds.

#include <boost/multiprecision/cpp_int.hpp>
#include <compare>
#include <cstdint>

namespace fp4proof::exact {

using Integer = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<>, boost::multiprecision::et_off>;

/// An exact real number numerator / denominator * 2^exponent, denominator positive and odd.
class Rational {
 public:
  Rational() = default;
  Rational(std::int64_t value) : Rational(Integer(value), Integer(1), 0) {}
  Rational(Integer numerator, Integer denominator, int exponent = 0);

  /// 2^exponent.
  static Rational power_of_two(int exponent) { return {Integer(1), Integer(1), exponent}; }

  bool is_zero() const { return numerator_.is_zero(); }
  bool is_integer() const { return exponent_ >= 0 && (numerator_ % denominator_).is_zero(); }
  int sign() const { return numerator_.sign(); }

  friend Rational operator-(const Rational& a);
  friend Rational operator+(const Rational& a, const Rational& b);
  friend Rational operator-(const Rational& a, const Rational& b);
  friend Rational operator*(const Rational& a, const Rational& b);
  /// The quotient; b must not be zero.
  friend Rational operator/(const Rational& a, const Rational& b);
  friend std::strong_ordering operator<=>(const Rational& a, const Rational& b);
  friend bool operator==(const Rational& a, const Rational& b) { return (a <=> b) == std::strong_ordering::equal; }

  /// This number times 2^exponent.
  Rational scaled(int exponent) const;
  Rational abs() const;
  /// The largest integer not above this number, which must not be negative.
  Integer floor() const;
  /// The integer k with 2^k <= this number < 2^(k+1); only for positive numbers.
  int floor_log2() const;
  /// The integer k with 2^(k-1) < this number <= 2^k; only for positive numbers.
  int ceil_log2() const;

  /// The number as numerator and denominator without the separate power of two, for cross-checks and messages.
  boost::multiprecision::cpp_rational to_cpp_rational() const;

 private:
  Integer numerator_ = 0;
  Integer denominator_ = 1;
  int exponent_ = 0;
};

}  // namespace fp4proof::exact
