#include "reference/exact/correction_arithmetic.h"

#include "reference/exact/extended.h"
#include "reference/exact/float_word.h"

namespace fp4proof::exact {

std::uint32_t subtract_floats(std::uint32_t a, std::uint32_t b) { return add_floats(a, b ^ float_sign); }

std::uint32_t divide_float(std::uint32_t a, const Rational& divisor) {
  if (is_nan(a)) return float_nan;
  if (is_infinity(a)) return a;
  return (a & float_sign) | round_to_float(float_value(a & ~float_sign) / divisor);
}

}  // namespace fp4proof::exact
