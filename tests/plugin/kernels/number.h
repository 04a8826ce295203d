#pragma once
// Numbers the way a kernel library of its own would handle them: doubles, frexp, ldexp, nearbyint. Nothing here is
// shared with the reference.

#include <cstdint>
#include <string_view>
#include <vector>

namespace kernels {

float float_of(std::uint32_t word);
std::uint32_t word_of(float value);

/// `value` with `bits` significant bits and no step below 2^lowest, ties to even.
double rounded_to(double value, int bits, int lowest);

/// To bfloat16, binary16, binary32; beyond the largest number an infinity.
double to_bf16(double value);
double to_fp16(double value);
double to_fp32(double value);

/// An element format. Magnitude codes 0 .. largest stand for `values`, ascending.
struct Format {
  int bits = 4;
  int mantissa_bits = 1;
  int emax = 2;           ///< exponent of the largest value
  unsigned infinity = 0;  ///< magnitude code of infinity, 0 for none; codes behind it or behind the largest are NaN
  std::vector<double> values;

  unsigned largest() const { return static_cast<unsigned>(values.size()) - 1; }
  double max() const { return values.back(); }
  unsigned sign() const { return 1U << (bits - 1); }
  double value(unsigned code) const;
};

Format e2m1();
Format e2m3();
Format e3m2();
Format e4m3();
Format e5m2();
Format s1p2();

/// The code of the largest value that is not above `y` (y >= 0 and no NaN).
unsigned code_below(double y, const Format& format);

/// The nearest code; of two that are equally near: the even one, the larger, the smaller one.
unsigned nearest_even(double y, const Format& format);
unsigned nearest_away(double y, const Format& format);
unsigned nearest_down(double y, const Format& format);

/// floor(log2 value), from the exponent. value > 0.
int exponent_of(double value);

}  // namespace kernels
