#include "tests/plugin/kernels/number.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace kernels {

float float_of(std::uint32_t word) {
  float value = 0;
  std::memcpy(&value, &word, sizeof value);
  return value;
}

std::uint32_t word_of(float value) {
  std::uint32_t word = 0;
  std::memcpy(&word, &value, sizeof word);
  return word;
}

double rounded_to(double value, int bits, int lowest) {
  if (!std::isfinite(value) || value == 0) return value;
  const int step = std::max(exponent_of(std::fabs(value)) + 1 - bits, lowest);
  return std::ldexp(std::nearbyint(std::ldexp(value, -step)), step);
}

namespace {

double with_infinity(double value, int top) {
  if (std::fabs(value) < std::ldexp(1.0, top)) return value;
  return std::isnan(value) ? value : std::copysign(std::numeric_limits<double>::infinity(), value);
}

/// The values of an IEEE-like format, `count` magnitude codes of them.
std::vector<double> ladder(int mantissa_bits, int bias, unsigned count) {
  std::vector<double> values;
  for (unsigned code = 0; code < count; ++code) {
    const int exponent = static_cast<int>(code >> mantissa_bits);
    const double fraction = std::ldexp(static_cast<double>(code & ((1U << mantissa_bits) - 1)), -mantissa_bits);
    values.push_back(exponent == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, exponent - bias));
  }
  return values;
}

}  // namespace

double to_bf16(double value) { return with_infinity(rounded_to(value, 8, -133), 128); }
double to_fp16(double value) { return with_infinity(rounded_to(value, 11, -24), 16); }
double to_fp32(double value) { return with_infinity(rounded_to(value, 24, -149), 128); }

double Format::value(unsigned code) const {
  const unsigned magnitude = code & (sign() - 1);
  double result = std::numeric_limits<double>::quiet_NaN();
  if (magnitude <= largest()) result = values[magnitude];
  if (infinity != 0 && magnitude == infinity) result = std::numeric_limits<double>::infinity();
  return (code & sign()) != 0 ? -result : result;
}

Format e2m1() { return {4, 1, 2, 0, ladder(1, 1, 8)}; }
Format e2m3() { return {6, 3, 2, 0, ladder(3, 1, 32)}; }
Format e3m2() { return {6, 2, 4, 0, ladder(2, 3, 32)}; }
Format e4m3() { return {8, 3, 8, 0, ladder(3, 7, 0x7F)}; }
Format e5m2() { return {8, 2, 15, 0x7C, ladder(2, 15, 0x7C)}; }
Format s1p2() { return {4, 2, 0, 0, {0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75}}; }

unsigned code_below(double y, const Format& format) {
  const auto above = std::upper_bound(format.values.begin(), format.values.end(), y);
  return static_cast<unsigned>(above - format.values.begin()) - 1;
}

namespace {

/// -1, 0, 1: y below, at, above the middle of codes `low` and `low` + 1.
int side_of_middle(double y, unsigned low, const Format& format) {
  const double middle = (format.values[low] + format.values[low + 1]) / 2;
  return y < middle ? -1 : y > middle ? 1 : 0;
}

template <class Tie>
unsigned nearest(double y, const Format& format, Tie goes_up) {
  if (std::isnan(y)) return 0;
  const unsigned low = code_below(y, format);
  if (low == format.largest()) return low;
  const int side = side_of_middle(y, low, format);
  return side > 0 || (side == 0 && goes_up(low)) ? low + 1 : low;
}

}  // namespace

unsigned nearest_even(double y, const Format& format) {
  return nearest(y, format, [](unsigned low) { return low % 2 == 1; });
}
unsigned nearest_away(double y, const Format& format) {
  return nearest(y, format, [](unsigned) { return true; });
}
unsigned nearest_down(double y, const Format& format) {
  return nearest(y, format, [](unsigned) { return false; });
}

int exponent_of(double value) {
  int exponent = 0;
  std::frexp(value, &exponent);
  return exponent - 1;
}

}  // namespace kernels
