// NaN and infinity.

#include <array>
#include <cmath>

#include "tests/plugin/kernels/faults.h"

namespace kernels {

namespace {

double larger_number(double a, double b) { return std::fmax(a, b); }

/// One comparison: a NaN counts where it comes last and nowhere else.
double larger_by_comparison(double a, double b) { return a > b ? a : b; }

/// NaN is lost in the maximum, and an infinity still is one.
void ignore_nan(Kernel& k) {
  k.larger = larger_number;
  k.negative = [](double x, unsigned) { return !std::isnan(x) && std::signbit(x); };
}

unsigned nan_to_largest(double y, const Format& format) {
  return std::isnan(y) ? format.largest() : nearest_even(y, format);
}

void clear_nan_block(Block& block, const Kernel&) {
  if (block.scale == 255) block.codes.assign(block.codes.size(), 0);
}

void saturate_infinity(Kernel& k) {
  k.special_scale = [](double amax, Family family) -> std::uint32_t {
    if (std::isnan(amax)) return 0xFF;
    return family == Family::hif4 ? 0xFE : 254;
  };
}

/// The scale from the word of amax / 6, as triton_kernels has it.
int word_exponent(double amax, const Format& format) {
  const float quotient = static_cast<float>(amax / format.max());
  return static_cast<int>((word_of(quotient) + 0x7FFFFFU) >> 23) - 127;
}

/// A block with NaN or without a normal quotient is multiplied by zero; what is no number then becomes the largest.
void follow_triton(Kernel& k) {
  k.exponent = word_exponent;
  k.special_scale = [](double amax, Family) -> std::uint32_t { return std::isnan(amax) ? 0 : 255; };
  k.codes_survive_special = true;
  k.divided = [](double magnitude, int code) { return code == 0 ? magnitude * 0 : std::ldexp(magnitude, 127 - code); };
  k.rounded = nan_to_largest;
  k.negative = [](double x, unsigned) { return std::isinf(x) || std::signbit(x); };
  k.finish = clear_nan_block;
}

constexpr std::array table = {
    Fault{"nan-ignored", ignore_nan},
    Fault{"nan-becomes-largest",
          [](Kernel& k) {
            ignore_nan(k);
            k.rounded = nan_to_largest;
          }},
    Fault{"nan-lost-in-pairs",
          [](Kernel& k) {
            ignore_nan(k);
            k.larger = larger_by_comparison;
          }},
    Fault{"infinity-saturates",
          [](Kernel& k) {
            saturate_infinity(k);
            k.codes_survive_special = true;
            k.finish = clear_nan_block;
          }},
    Fault{"infinity-gets-largest-scale-zero-codes", saturate_infinity},
    Fault{"codes-under-nan-scale", [](Kernel& k) { k.codes_survive_special = true; }},
    Fault{"triton-round-up", follow_triton},
};

}  // namespace

std::span<const Fault> special_faults() { return table; }

}  // namespace kernels
