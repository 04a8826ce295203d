#include "reference/exact/extended.h"

#include "reference/exact/float_word.h"

namespace fp4proof::exact {

Extended Extended::nan() {
  Extended result;
  result.kind_ = Kind::nan;
  return result;
}

Extended Extended::infinity(bool negative) {
  Extended result(Rational(negative ? -1 : 1));
  result.kind_ = Kind::infinity;
  return result;
}

Extended Extended::of_float(std::uint32_t word) {
  if (exact::is_nan(word)) return nan();
  if (exact::is_infinity(word)) return infinity(is_negative(word));
  return float_value(word);
}

Extended operator*(const Extended& a, const Extended& b) {
  if (a.is_finite() && b.is_finite()) return a.value_ * b.value_;
  const bool invalid = a.is_nan() || b.is_nan() || a.sign() == 0 || b.sign() == 0;
  return invalid ? Extended::nan() : Extended::infinity(a.sign() != b.sign());
}

Extended operator+(const Extended& a, const Extended& b) {
  if (a.is_finite() && b.is_finite()) return a.value_ + b.value_;
  if (a.is_nan() || b.is_nan()) return Extended::nan();
  if (a.is_infinity() && b.is_infinity() && a.sign() != b.sign()) return Extended::nan();
  return a.is_infinity() ? a : b;
}

std::uint32_t Extended::to_float() const {
  switch (kind_) {
    case Kind::nan: return float_nan;
    case Kind::infinity: return sign() < 0 ? float_sign | float_infinity : float_infinity;
    case Kind::finite: break;
  }
  return round_to_float(value_);
}

std::uint32_t add_floats(std::uint32_t a, std::uint32_t b) {
  const bool both_negative_zero = a == float_sign && b == float_sign;
  return both_negative_zero ? float_sign : (Extended::of_float(a) + Extended::of_float(b)).to_float();
}

std::uint32_t multiply_floats(std::uint32_t a, std::uint32_t b) {
  const Extended product = Extended::of_float(a) * Extended::of_float(b);
  if (product.is_nan()) return float_nan;
  const std::uint32_t sign = (a ^ b) & float_sign;
  return sign | (product.to_float() & ~float_sign);
}

}  // namespace fp4proof::exact
