#include "reference/exact/rational.h"

#include <algorithm>
#include <utility>

namespace fp4proof::exact {
namespace {

int top_bit(const Integer& positive) { return static_cast<int>(boost::multiprecision::msb(positive)); }

Integer shifted(const Integer& value, int left) { return value << static_cast<unsigned>(left); }

/// Moves the factors of two of a nonzero integer into the exponent.
int strip_twos(Integer& value) {
  const auto twos = static_cast<unsigned>(boost::multiprecision::lsb(value.sign() < 0 ? Integer(-value) : value));
  if (twos != 0) value >>= twos;
  return static_cast<int>(twos);
}

std::strong_ordering order_of(int comparison) { return comparison <=> 0; }

/// Compares a * 2^a_exponent with b * 2^b_exponent, a and b positive.
std::strong_ordering compare_positive(const Integer& a, int a_exponent, const Integer& b, int b_exponent) {
  const int a_top = top_bit(a) + a_exponent;
  const int b_top = top_bit(b) + b_exponent;
  if (a_top != b_top) return a_top <=> b_top;
  const int common = std::min(a_exponent, b_exponent);
  return order_of(shifted(a, a_exponent - common).compare(shifted(b, b_exponent - common)));
}

}  // namespace

Rational::Rational(Integer numerator, Integer denominator, int exponent)
    : numerator_(std::move(numerator)), denominator_(std::move(denominator)), exponent_(exponent) {
  if (denominator_.sign() < 0) {
    numerator_ = -numerator_;
    denominator_ = -denominator_;
  }
  if (numerator_.is_zero()) {
    denominator_ = 1;
    exponent_ = 0;
    return;
  }
  exponent_ += strip_twos(numerator_);
  exponent_ -= strip_twos(denominator_);
}

Rational operator-(const Rational& a) { return {-a.numerator_, a.denominator_, a.exponent_}; }

Rational operator+(const Rational& a, const Rational& b) {
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  const int common = std::min(a.exponent_, b.exponent_);
  const Integer left = shifted(a.numerator_, a.exponent_ - common);
  const Integer right = shifted(b.numerator_, b.exponent_ - common);
  if (a.denominator_ == b.denominator_) return {left + right, a.denominator_, common};
  return {left * b.denominator_ + right * a.denominator_, a.denominator_ * b.denominator_, common};
}

Rational operator-(const Rational& a, const Rational& b) { return a + (-b); }

Rational operator*(const Rational& a, const Rational& b) {
  return {a.numerator_ * b.numerator_, a.denominator_ * b.denominator_, a.exponent_ + b.exponent_};
}

Rational operator/(const Rational& a, const Rational& b) {
  return {a.numerator_ * b.denominator_, a.denominator_ * b.numerator_, a.exponent_ - b.exponent_};
}

std::strong_ordering operator<=>(const Rational& a, const Rational& b) {
  if (a.sign() != b.sign()) return a.sign() <=> b.sign();
  if (a.sign() == 0) return std::strong_ordering::equal;
  const Integer left = a.numerator_ * b.denominator_;
  const Integer right = b.numerator_ * a.denominator_;
  return a.sign() > 0 ? compare_positive(left, a.exponent_, right, b.exponent_)
                      : compare_positive(-right, b.exponent_, -left, a.exponent_);
}

Rational Rational::scaled(int exponent) const { return {numerator_, denominator_, exponent_ + exponent}; }

Rational Rational::abs() const { return sign() < 0 ? -*this : *this; }

Integer Rational::floor() const {
  if (exponent_ >= 0) return shifted(numerator_, exponent_) / denominator_;
  return numerator_ / shifted(denominator_, -exponent_);
}

int Rational::floor_log2() const {
  const int guess = top_bit(numerator_) - top_bit(denominator_) + exponent_;
  if (denominator_ == 1) return guess;
  return *this < power_of_two(guess) ? guess - 1 : guess;
}

int Rational::ceil_log2() const {
  const int below = floor_log2();
  return *this == power_of_two(below) ? below : below + 1;
}

boost::multiprecision::cpp_rational Rational::to_cpp_rational() const {
  const boost::multiprecision::cpp_int numerator(numerator_);
  const boost::multiprecision::cpp_int denominator(denominator_);
  if (exponent_ >= 0) return {numerator << static_cast<unsigned>(exponent_), denominator};
  return {numerator, denominator << static_cast<unsigned>(-exponent_)};
}

}  // namespace fp4proof::exact
