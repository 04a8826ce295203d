// The right steps.

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/plugin/kernels/kernel.h"

namespace kernels {

int floor_exponent(double amax, const Format& format) { return exponent_of(amax) - format.emax; }

int ceil_exponent(double amax, const Format& format) {
  const int exponent = exponent_of(amax);
  return exponent + (amax > std::ldexp(1.0, exponent) ? 1 : 0) - format.emax;
}

int rceil_exponent(double amax, const Format& format) {
  int exponent = floor_exponent(amax, format);
  if (std::ldexp(format.max(), exponent) < amax) ++exponent;
  return exponent;
}

int even_exponent(double amax, const Format& format) {
  const int exponent = exponent_of(amax);
  const double half_step = std::ldexp(1.0, exponent - format.mantissa_bits - 1);
  return exponent_of(amax + half_step) - format.emax;
}

int nearest_exponent(double amax, const Format& format) {
  int exponent = floor_exponent(amax, format) - 1;
  while (std::ldexp(format.max(), exponent + 1) <= amax) ++exponent;
  const double tie = std::ldexp(1.5 * format.max(), exponent);
  return amax > tie || (amax == tie && (exponent + 127) % 2 != 0) ? exponent + 1 : exponent;
}

float sum_of_chunks(const std::vector<double>& products, std::size_t chunk) {
  float total = 0;
  for (std::size_t first = 0; first < products.size(); first += chunk) {
    float part = 0;
    const std::size_t end = std::min(first + chunk, products.size());
    for (std::size_t i = first; i < end; ++i) part += static_cast<float>(products[i]);
    total = first == 0 ? part : total + part;
  }
  return total;
}

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

double larger(double a, double b) { return std::isnan(a) || std::isnan(b) ? nan_value : std::max(a, b); }

std::uint32_t nan_scale(double, Family family) { return family == Family::nvfp4 ? 0x7F : 0xFF; }

int scale_code(int exponent) { return std::clamp(exponent + 127, 0, 254); }

unsigned stochastic(double y, std::uint32_t word, const Format& format) {
  const unsigned low = code_below(y, format);
  if (low == format.largest()) return low;
  const double step = format.values[low + 1] - format.values[low];
  const double fraction = std::floor(std::ldexp((y - format.values[low]) / step, 32));
  return fraction + static_cast<double>(word) >= 0x1p32 ? low + 1 : low;
}

std::uint32_t e6m2(double wanted) {
  const double clamped = std::clamp(wanted, 0x1p-48, 49152.0);
  const int exponent = exponent_of(clamped);
  const double quarters = std::nearbyint(std::ldexp(clamped, 2 - exponent));  // 4 .. 8
  return static_cast<std::uint32_t>((exponent + 48) * 4 + static_cast<int>(quarters) - 4);
}

float tensor_scale(float amax) {
  const float scale = amax / 2688.0F;
  return scale == 0 ? 1.0F : scale;
}

double decoded_scale(std::uint32_t stored, Family family) {
  if (family == Family::nvfp4) return e4m3().value(stored);
  const std::uint32_t byte = stored & 0xFFU;
  if (byte == 0xFF) return nan_value;
  if (family == Family::mx) return std::ldexp(1.0, static_cast<int>(byte) - 127);
  return std::ldexp(4 + (byte & 3U), static_cast<int>(byte >> 2) - 50);
}

double exact_dot(const double* a, const double* b, std::size_t length) {
  double sum = 0;
  for (std::size_t i = 0; i < length; ++i) sum += a[i] * b[i];
  return sum;
}

Kernel common(Family family, Format format, std::size_t length) {
  Kernel k;
  k.family = family;
  k.format = std::move(format);
  k.length = length;
  k.load = [](double x) { return x; };
  k.measure = [](double x) { return std::fabs(x); };
  k.larger = larger;
  k.special_scale = nan_scale;
  k.exponent = floor_exponent;
  k.scale_code = scale_code;
  k.divided = [](double magnitude, int code) { return std::ldexp(magnitude, 127 - code); };
  k.rounded = nearest_even;
  k.stochastic = stochastic;
  k.negative = [](double x, unsigned) { return std::signbit(x); };
  k.seventh = [](double amax) { return to_bf16(amax * 0.142578125); };
  k.e6m2 = e6m2;
  k.reciprocal = [](double scale) { return to_bf16(1 / scale); };
  k.threshold = [](double product) { return product; };
  k.scaled = [](double product) { return product; };
  k.level2_of = [](std::size_t i) { return i / 8; };
  k.level3_of = [](std::size_t i) { return i / 4; };
  k.tensor_scale = tensor_scale;
  k.block_scale = [](double amax, double scale) { return nearest_even(amax / (6 * scale), e4m3()); };
  k.quotient = [](double magnitude, double scale, double tensor) { return magnitude / (scale * tensor); };
  k.code_place = [](const Coded& c, std::size_t row, std::size_t column) { return row * c.columns + column; };
  k.scale_place = [](const Coded& c, std::size_t row, std::size_t block) { return row * c.blocks() + block; };
  k.scale_word = [](std::uint32_t word) { return word; };
  k.element = [](unsigned code, const Format& f) { return f.value(code); };
  k.scale = decoded_scale;
  k.micro = [](std::uint32_t word, std::size_t i) {
    return static_cast<int>((word >> (8 + i / 8) & 1U) + (word >> (16 + i / 4) & 1U));
  };
  k.value = [](double element, double scale) { return static_cast<float>(element * scale); };
  k.a_code_place = k.code_place;
  k.b_scale_place = k.scale_place;
  k.dot = exact_dot;
  k.sum = sum_of_chunks;
  k.store = [](float c) { return c; };
  return k;
}

Kernel mx(Format format, int (*rule)(double, const Format&)) {
  Kernel k = common(Family::mx, std::move(format), 32);
  k.exponent = rule;
  return k;
}

Kernel stochastic_mxfp4() {
  Kernel k = mx(e2m1(), floor_exponent);
  k.is_random = true;
  return k;
}

Kernel hif4() {
  Kernel k = common(Family::hif4, s1p2(), 64);
  k.rounded = nearest_away;
  k.negative = [](double x, unsigned) { return std::signbit(x) && x != 0; };
  return k;
}

Kernel nvfp4(bool has_tensor_scale) {
  Kernel k = common(Family::nvfp4, e2m1(), 16);
  k.has_tensor_scale = has_tensor_scale;
  return k;
}

}  // namespace

std::optional<Kernel> good_kernel(std::string_view profile) {
  if (profile == "mxfp4/ocp") return mx(e2m1(), floor_exponent);
  if (profile == "mxfp4/ceil") return mx(e2m1(), ceil_exponent);
  if (profile == "mxfp4/rceil") return mx(e2m1(), rceil_exponent);
  if (profile == "mxfp4/even") return mx(e2m1(), even_exponent);
  if (profile == "mxfp4/nearest") return mx(e2m1(), nearest_exponent);
  if (profile == "mxfp4/ocp-sr") return stochastic_mxfp4();
  if (profile == "mxfp8-e4m3/ocp") return mx(e4m3(), floor_exponent);
  if (profile == "mxfp8-e4m3/rceil") return mx(e4m3(), rceil_exponent);
  if (profile == "mxfp8-e5m2/ocp") return mx(e5m2(), floor_exponent);
  if (profile == "mxfp6-e2m3/ocp") return mx(e2m3(), floor_exponent);
  if (profile == "mxfp6-e3m2/ocp") return mx(e3m2(), floor_exponent);
  if (profile == "hif4/gcc") return hif4();
  if (profile == "nvfp4/direct") return nvfp4(false);
  if (profile == "nvfp4/tensor-scale") return nvfp4(true);
  return std::nullopt;
}

}  // namespace kernels
