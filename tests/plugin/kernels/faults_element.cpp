// Wrong elements under right scales.

#include <array>
#include <cmath>
#include <limits>

#include "tests/plugin/kernels/faults.h"

namespace kernels {

namespace {

/// Two bits behind the mantissa and nothing else decide.
unsigned without_sticky(double y, const Format& format) {
  if (y == 0) return 0;
  const int lowest = exponent_of(format.values[1]);
  const int step = std::max(exponent_of(y) - format.mantissa_bits, lowest) - 2;
  return nearest_even(std::ldexp(std::floor(std::ldexp(y, -step)), step), format);
}

/// Elements below the smallest normal one are a binade low.
unsigned low_subnormals(double y, const Format& format) {
  return y < format.values[std::size_t{1} << format.mantissa_bits] ? nearest_even(y / 2, format)
                                                                   : nearest_even(y, format);
}

/// Odd mantissas lose their last bit.
unsigned cut_mantissa(double y, const Format& format) { return nearest_even(y, format) & ~1U; }

/// A half is added in binary32 and the sum cut; a tie to an odd number is taken back.
unsigned half_added(double y, const Format& format) {
  const double value = to_fp32(y);
  if (value >= format.max()) return format.largest();
  const unsigned low = code_below(value, format);
  const double step = format.values[low + 1] - format.values[low];
  const double steps = value / step;
  double whole = std::floor(to_fp32(steps + 0.5));
  if (std::fmod(steps - 0.5, 2) == 0) whole -= 1;
  return nearest_even(whole * step, format);
}

/// A shift by 64 or more leaves rubbish.
unsigned shifted_away(double y, const Format& format) { return y > 0 && y < 0x1p-40 ? 4 : nearest_even(y, format); }

/// E4M3 without saturation: what rounds beyond 448 is NaN.
unsigned overflowing(double y, const Format& format) {
  return y > 464 ? format.largest() + 1 : nearest_even(y, format);
}

/// Powers of two from 2^16 up come out one step low, as a fast exp2 gives them.
double by_inexact_power(double magnitude, int scale_code) {
  const double power = std::ldexp(1.0, scale_code - 127);
  return magnitude / (scale_code >= 127 + 16 ? power * (1 - 0x1p-24) : power);
}

/// Scale code 0 taken for zero, and its reciprocal for infinity.
double by_zero(double magnitude, int scale_code) {
  return scale_code == 0 ? magnitude / 0.0 : std::ldexp(magnitude, 127 - scale_code);
}

double flushed_under_code_zero(double magnitude, int scale_code) {
  return scale_code == 0 ? 0 : std::ldexp(magnitude, 127 - scale_code);
}

double flushed(double x) { return std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x; }

/// Every magnitude code one high.
void one_high(Block& block, const Kernel& k) {
  for (unsigned& code : block.codes)
    if ((code & (k.format.sign() - 1)) < k.format.largest()) ++code;
}

double reciprocal_quotient(double magnitude, double scale, double tensor_scale) {
  const float reciprocal = 1.0F / static_cast<float>(scale * tensor_scale);
  return static_cast<double>(static_cast<float>(magnitude) * reciprocal);
}

unsigned stochastic_of_bits(double y, std::uint32_t word, const Format& format, int bits) {
  const unsigned low = code_below(y, format);
  if (low == format.largest()) return low;
  const double step = format.values[low + 1] - format.values[low];
  const double fraction = std::floor(std::ldexp((y - format.values[low]) / step, bits));
  return fraction + static_cast<double>(word >> (32 - bits)) >= std::ldexp(1.0, bits) ? low + 1 : low;
}

constexpr std::array table = {
    Fault{"ties-away", [](Kernel& k) { k.rounded = nearest_away; }},
    Fault{"ties-down", [](Kernel& k) { k.rounded = nearest_down; }},
    Fault{"truncates", [](Kernel& k) { k.rounded = code_below; }},
    Fault{"no-sticky-bit", [](Kernel& k) { k.rounded = without_sticky; }},
    Fault{"no-sticky-bit-e4m3", [](Kernel& k) { k.rounded = without_sticky; }},
    Fault{"subnormals-binade-low", [](Kernel& k) { k.rounded = low_subnormals; }},
    Fault{"odd-mantissas-cut", [](Kernel& k) { k.rounded = cut_mantissa; }},
    Fault{"element-through-bf16",
          [](Kernel& k) { k.rounded = [](double y, const Format& f) { return nearest_even(to_bf16(y), f); }; }},
    Fault{"half-added-in-fp32", [](Kernel& k) { k.rounded = half_added; }},
    Fault{"shift-beyond-width", [](Kernel& k) { k.rounded = shifted_away; }},
    Fault{"overflow-to-nan", [](Kernel& k) { k.rounded = overflowing; }},
    Fault{"inexact-power-of-two", [](Kernel& k) { k.divided = by_inexact_power; }},
    Fault{"scale-zero-reciprocal", [](Kernel& k) { k.divided = by_zero; }},
    Fault{"tiny-blocks-flushed", [](Kernel& k) { k.divided = flushed_under_code_zero; }},
    Fault{"inputs-flushed", [](Kernel& k) { k.load = flushed; }},
    Fault{"inputs-through-bf16", [](Kernel& k) { k.load = to_bf16; }},
    Fault{"zeros-lose-sign",
          [](Kernel& k) { k.negative = [](double x, unsigned magnitude) { return magnitude != 0 && x < 0; }; }},
    Fault{"negative-zero-input-lost", [](Kernel& k) { k.negative = [](double x, unsigned) { return x < 0; }; }},
    Fault{"every-code-one-high", [](Kernel& k) { k.finish = one_high; }},
    Fault{"nvfp4-times-reciprocal", [](Kernel& k) { k.quotient = reciprocal_quotient; }},
    Fault{"nvfp4-tensor-scale-left-out",
          [](Kernel& k) { k.quotient = [](double magnitude, double scale, double) { return magnitude / scale; }; }},
    Fault{"stochastic-all-zero",
          [](Kernel& k) { k.stochastic = [](double, std::uint32_t, const Format&) { return 0U; }; }},
    Fault{"stochastic-one-word", [](Kernel& k) { k.shares_random_word = true; }},
    Fault{"stochastic-same-seed", [](Kernel& k) { k.seeds_itself = true; }},
    Fault{"stochastic-8-bits",
          [](Kernel& k) {
            k.stochastic = [](double y, std::uint32_t word, const Format& f) {
              return stochastic_of_bits(y, word, f, 8);
            };
          }},
    Fault{
        "stochastic-to-nearest",
        [](Kernel& k) { k.stochastic = [](double y, std::uint32_t, const Format& f) { return nearest_even(y, f); }; }},
};

}  // namespace

std::span<const Fault> element_faults() { return table; }

}  // namespace kernels
