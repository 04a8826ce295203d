#pragma once
// Real numbers with the two infinities and NaN, by the rules of IEEE 754 but without rounding and without a sign of
// zero. Products and sums of decoded values live here until they are rounded once.

#include <cstdint>
#include <utility>

#include "reference/exact/rational.h"

namespace fp4proof::exact {

class Extended {
 public:
  Extended() = default;
  Extended(Rational value) : value_(std::move(value)) {}
  static Extended nan();
  static Extended infinity(bool negative);
  /// The number that a binary32 word stands for.
  static Extended of_float(std::uint32_t word);

  bool is_finite() const { return kind_ == Kind::finite; }
  bool is_nan() const { return kind_ == Kind::nan; }
  bool is_infinity() const { return kind_ == Kind::infinity; }
  int sign() const { return value_.sign(); }
  /// The value of a finite number.
  const Rational& value() const { return value_; }

  /// infinity * 0 is NaN.
  friend Extended operator*(const Extended& a, const Extended& b);
  /// infinity - infinity is NaN.
  friend Extended operator+(const Extended& a, const Extended& b);

  /// Rounded once to binary32, ties to even; zero gives +0 and NaN 0x7FC00000.
  std::uint32_t to_float() const;

 private:
  enum class Kind : std::uint8_t { finite, infinity, nan };
  Kind kind_ = Kind::finite;
  Rational value_;  ///< of an infinity: 1 or -1, its sign
};

/// a + b in binary32 arithmetic, ties to even. +0 unless both are -0 where the exact sum is zero.
std::uint32_t add_floats(std::uint32_t a, std::uint32_t b);
/// a * b in binary32 arithmetic, ties to even.
std::uint32_t multiply_floats(std::uint32_t a, std::uint32_t b);

}  // namespace fp4proof::exact
