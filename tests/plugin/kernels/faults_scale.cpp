// Wrong scales of MX and NVFP4 blocks.

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/plugin/kernels/faults.h"

namespace kernels {

namespace {

int float_log2_exponent(double amax, const Format& format) {
  return static_cast<int>(std::floor(std::log2(static_cast<float>(amax)))) - format.emax;
}

/// The exponent field of a float, one more where a bit of the mask 0x4FFFFF is set in place of 0x7FFFFF.
int masked_exponent_of(float scale) {
  const std::uint32_t word = word_of(scale);
  return static_cast<int>(word >> 23) + ((word & 0x4FFFFFU) != 0 ? 1 : 0) - 127;
}

int masked_exponent(double amax, const Format& format) {
  return masked_exponent_of(static_cast<float>(std::ldexp(amax, -format.emax)));
}

int masked_quotient_exponent(double amax, const Format& format) {
  return masked_exponent_of(static_cast<float>(amax) / static_cast<float>(format.max()));
}

/// Ties of the nearest power of two all go up: half a binade is added to the word of amax / max.
int nearest_up_exponent(double amax, const Format& format) {
  const float quotient = static_cast<float>(amax) / static_cast<float>(format.max());
  return static_cast<int>((word_of(quotient) + 0x400000U) >> 23) - 127;
}

/// >= in place of >: a block that just fits gets the next scale.
int rceil_or_equal_exponent(double amax, const Format& format) {
  const int exponent = rceil_exponent(amax, format);
  return std::ldexp(format.max(), exponent) == amax ? exponent + 1 : exponent;
}

/// amax times the rounded reciprocal of the largest element, in binary32.
int reciprocal_exponent(double amax, const Format& format) {
  const float quotient = static_cast<float>(amax) * (1.0F / static_cast<float>(format.max()));
  if (quotient == 0) return -127;
  const int exponent = exponent_of(static_cast<double>(quotient));
  return static_cast<double>(quotient) > std::ldexp(1.0, exponent) ? exponent + 1 : exponent;
}

/// Half a mantissa step added to the word: the largest numbers carry into the NaN code.
int word_add_exponent(double amax, const Format& format) {
  const std::uint32_t half_step = 1U << (22 - format.mantissa_bits);
  const auto field = static_cast<int>((word_of(static_cast<float>(amax)) + half_step) >> 23);
  return field == 255 ? 128 : std::max(field - format.emax, 0) - 127;
}

int scale_code_with_nan(int exponent) { return std::clamp(exponent + 127, 0, 255); }

/// Codes of a block whose scale is NaN.
void clear_nan_block(Block& block, const Kernel&) {
  if (block.scale == 255) std::fill(block.codes.begin(), block.codes.end(), 0U);
}

template <int Steps>
void move_stored_scale(Block& block, const Kernel&) {
  if (block.scale < 255)
    block.scale = static_cast<std::uint32_t>(std::clamp(static_cast<int>(block.scale) + Steps, 0, 254));
}

constexpr std::array table = {
    Fault{"scale-ceil", [](Kernel& k) { k.exponent = ceil_exponent; }},
    Fault{"scale-rceil", [](Kernel& k) { k.exponent = rceil_exponent; }},
    Fault{"scale-rceil-e4m3", [](Kernel& k) { k.exponent = rceil_exponent; }},
    Fault{"scale-even", [](Kernel& k) { k.exponent = even_exponent; }},
    Fault{"scale-nearest-e2m3", [](Kernel& k) { k.exponent = nearest_exponent; }},
    Fault{"scale-nearest-under-rceil", [](Kernel& k) { k.exponent = nearest_exponent; }},
    Fault{"scale-floor-under-rceil", [](Kernel& k) { k.exponent = floor_exponent; }},
    Fault{"scale-float-log2", [](Kernel& k) { k.exponent = float_log2_exponent; }},
    Fault{"scale-round-up-mask", [](Kernel& k) { k.exponent = masked_exponent; }},
    Fault{"scale-round-up-mask-of-quotient", [](Kernel& k) { k.exponent = masked_quotient_exponent; }},
    Fault{"scale-nearest-ties-up", [](Kernel& k) { k.exponent = nearest_up_exponent; }},
    Fault{"scale-rceil-or-equal", [](Kernel& k) { k.exponent = rceil_or_equal_exponent; }},
    Fault{"scale-times-reciprocal", [](Kernel& k) { k.exponent = reciprocal_exponent; }},
    Fault{"scale-word-add",
          [](Kernel& k) {
            k.exponent = word_add_exponent;
            k.scale_code = scale_code_with_nan;
            k.finish = clear_nan_block;
          }},
    Fault{"scale-one-high", [](Kernel& k) { k.scale_code = [](int e) { return std::clamp(e + 128, 0, 254); }; }},
    Fault{"scale-stored-one-high", [](Kernel& k) { k.finish = move_stored_scale<1>; }},
    Fault{"scale-bias-125", [](Kernel& k) { k.finish = move_stored_scale<-2>; }},
    Fault{"scale-wraps", [](Kernel& k) { k.scale_code = [](int e) { return (e + 127) & 0xFF; }; }},
    Fault{"scale-of-signed-maximum", [](Kernel& k) { k.measure = [](double x) { return x; }; }},
    Fault{"zero-block-scale-127", [](Kernel& k) { k.zero_block_code = 127; }},
    Fault{
        "nvfp4-scale-ties-away",
        [](Kernel& k) { k.block_scale = [](double amax, double t) { return nearest_away(amax / (6 * t), e4m3()); }; }},
    Fault{"nvfp4-scale-overflows",
          [](Kernel& k) {
            k.block_scale = [](double amax, double t) {
              return amax / (6 * t) > 464 ? 0x7FU : nearest_even(amax / (6 * t), e4m3());
            };
          }},
    Fault{"nvfp4-no-tensor-scale", [](Kernel& k) { k.tensor_scale = [](float) { return 1.0F; }; }},
};

}  // namespace

std::span<const Fault> scale_faults() { return table; }

}  // namespace kernels
