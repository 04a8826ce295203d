// Wrong values of right codes.

#include <array>
#include <cmath>
#include <limits>

#include "tests/plugin/kernels/faults.h"

namespace kernels {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

double power(std::uint32_t code) { return std::ldexp(1.0, static_cast<int>(code) - 127); }

/// The exponent field of a binary32 word, nothing else: code 0 is zero, code 255 infinity.
double by_exponent_field(std::uint32_t code, Family) { return static_cast<double>(float_of(code << 23)); }

/// NaN is looked for in the decoded number, and at the wrong place.
double nan_test_on_number(std::uint32_t code, Family) {
  if (code == 134) return not_a_number;
  return code == 255 ? infinity : power(code);
}

/// An exponent and no mantissa.
double exponent_only(std::uint32_t stored, Family) {
  return stored == 0x7F ? not_a_number : std::ldexp(1.0, static_cast<int>(stored >> 3) - 7);
}

/// Divides by the reciprocal, which is subnormal for code 254 and flushed.
double by_flushed_reciprocal(std::uint32_t code, Family) {
  if (code == 255) return not_a_number;
  return code == 254 ? infinity : power(code);
}

constexpr std::array table = {
    Fault{"scale-code-0-is-zero",
          [](Kernel& k) {
            k.scale = [](std::uint32_t code, Family) {
              return code == 0 ? 0 : code == 255 ? not_a_number : power(code);
            };
          }},
    Fault{"nan-scale-is-infinity",
          [](Kernel& k) { k.scale = [](std::uint32_t code, Family) { return code == 255 ? infinity : power(code); }; }},
    Fault{"scale-by-exponent-field", [](Kernel& k) { k.scale = by_exponent_field; }},
    Fault{"scale-134-is-nan", [](Kernel& k) { k.scale = nan_test_on_number; }},
    Fault{"scale-byte-as-number",
          [](Kernel& k) { k.scale = [](std::uint32_t code, Family) { return static_cast<double>(code); }; }},
    Fault{"scale-254-flushed", [](Kernel& k) { k.scale = by_flushed_reciprocal; }},
    Fault{"values-doubled",
          [](Kernel& k) { k.element = [](unsigned code, const Format& f) { return 2 * f.value(code); }; }},
    Fault{"values-flushed",
          [](Kernel& k) {
            k.value = [](double element, double scale) {
              const auto value = static_cast<float>(element * scale);
              return std::fabs(value) < 0x1p-126F ? std::copysign(0.0F, value) : value;
            };
          }},
    Fault{"negative-zero-decoded-positive",
          [](Kernel& k) {
            k.value = [](double element, double scale) { return static_cast<float>(element * scale + 0.0); };
          }},
    Fault{"element-of-e3m2",
          [](Kernel& k) { k.element = [](unsigned code, const Format&) { return e3m2().value(code); }; }},
    Fault{"nvfp4-scale-exponent-only",
          [](Kernel& k) {
            k.scale = exponent_only;
            k.value = [](double element, double scale) { return static_cast<float>(element * scale + 0.0); };
          }},
    Fault{"nvfp4-scales-multiplied-first",
          [](Kernel& k) {
            k.value = [](double element, double scale) {
              return static_cast<float>(element) * static_cast<float>(scale);
            };
          }},
    Fault{"hif4-values-of-e2m1",
          [](Kernel& k) { k.element = [](unsigned code, const Format&) { return e2m1().value(code); }; }},
    Fault{"hif4-decode-strided",
          [](Kernel& k) {
            k.micro = [](std::uint32_t word, std::size_t i) {
              return static_cast<int>((word >> (8 + i % 8) & 1U) + (word >> (16 + i % 16) & 1U));
            };
          }},
    Fault{"hif4-decode-msb-first",
          [](Kernel& k) {
            k.micro = [](std::uint32_t word, std::size_t i) {
              const std::size_t third = i / 4;
              return static_cast<int>((word >> (15 - i / 8) & 1U) +
                                      (word >> (third < 8 ? 23 - third : 39 - third) & 1U));
            };
          }},
};

}  // namespace

std::span<const Fault> decode_faults() { return table; }

}  // namespace kernels
