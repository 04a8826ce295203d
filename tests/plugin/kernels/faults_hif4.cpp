// HiF4, encoding.

#include <array>
#include <cmath>

#include "tests/plugin/kernels/faults.h"

namespace kernels {

namespace {

std::uint32_t e6m2_with(double wanted, double (*rounded)(double)) {
  const double clamped = std::fmin(std::fmax(wanted, 0x1p-48), 49152.0);
  const int exponent = exponent_of(clamped);
  return static_cast<std::uint32_t>((exponent + 48) * 4 + static_cast<int>(rounded(std::ldexp(clamped, 2 - exponent))) -
                                    4);
}

/// Ties of the quarters go up.
std::uint32_t e6m2_ties_up(double wanted) {
  return e6m2_with(wanted, [](double quarters) { return std::floor(quarters + 0.5); });
}

/// No clamp at the low end: the code wraps.
std::uint32_t e6m2_wrapping(double wanted) {
  if (wanted == 0) return 0;
  const int exponent = exponent_of(wanted);
  const int quarters = static_cast<int>(std::nearbyint(std::ldexp(wanted, 2 - exponent)));
  return static_cast<std::uint32_t>((exponent + 48) * 4 + quarters - 4) & 0xFFU;
}

std::uint32_t reversed_bits(std::uint32_t byte) {
  std::uint32_t result = 0;
  for (int i = 0; i < 8; ++i) result |= (byte >> i & 1U) << (7 - i);
  return result;
}

std::uint32_t msb_first(std::uint32_t word) {
  return (word & 0xFFU) | reversed_bits(word >> 8 & 0xFFU) << 8 | reversed_bits(word >> 16 & 0xFFU) << 16 |
         reversed_bits(word >> 24) << 24;
}

std::uint32_t big_endian(std::uint32_t word) {
  return word << 24 | (word & 0xFF00U) << 8 | (word >> 8 & 0xFF00U) | word >> 24;
}

void group_strided(Kernel& k) {
  k.level2_of = [](std::size_t i) { return i % 8; };
  k.level3_of = [](std::size_t i) { return i % 16; };
}

constexpr std::array table = {
    Fault{"hif4-ties-even", [](Kernel& k) { k.rounded = nearest_even; }},
    Fault{"hif4-element-bf16", [](Kernel& k) { k.scaled = to_bf16; }},
    Fault{"hif4-thresholds-bf16", [](Kernel& k) { k.threshold = to_bf16; }},
    Fault{"hif4-strided-groups", group_strided},
    Fault{"hif4-micro-msb-first", [](Kernel& k) { k.scale_word = msb_first; }},
    Fault{"hif4-scale-word-big-endian", [](Kernel& k) { k.scale_word = big_endian; }},
    Fault{"hif4-exact-seventh", [](Kernel& k) { k.seventh = [](double amax) { return amax / 7; }; }},
    Fault{"hif4-exact-reciprocal", [](Kernel& k) { k.reciprocal = [](double scale) { return 1 / scale; }; }},
    Fault{"hif4-e6m2-ties-up", [](Kernel& k) { k.e6m2 = e6m2_ties_up; }},
    Fault{"hif4-scale-wraps", [](Kernel& k) { k.e6m2 = e6m2_wrapping; }},
    Fault{"hif4-negative-zero-kept",
          [](Kernel& k) { k.negative = [](double x, unsigned) { return std::signbit(x); }; }},
    Fault{"hif4-thresholds-above", [](Kernel& k) { k.threshold = [](double p) { return std::nextafter(p, 0.0); }; }},
    Fault{"hif4-micro-bits-clear", [](Kernel& k) { k.threshold = [](double) { return 0.0; }; }},
};

}  // namespace

std::span<const Fault> hif4_faults() { return table; }

}  // namespace kernels
