// Wrong products of right operands.

#include <algorithm>
#include <array>
#include <cmath>

#include "tests/plugin/kernels/faults.h"

namespace kernels {

namespace {

using Products = std::vector<double>;

float in_one_chunk(const Products& products, std::size_t) {
  float sum = 0;
  for (const double product : products) sum += static_cast<float>(product);
  return sum;
}

/// One rounding at the end.
float in_double(const Products& products, std::size_t) {
  double sum = 0;
  for (const double product : products) sum += product;
  return static_cast<float>(sum);
}

float backwards(const Products& products, std::size_t chunk) {
  return in_one_chunk({products.rbegin(), products.rend()}, chunk);
}

float in_bf16(const Products& products, std::size_t chunk) {
  double total = 0;
  for (std::size_t first = 0; first < products.size(); first += chunk) {
    double part = 0;
    for (std::size_t i = first; i < std::min(first + chunk, products.size()); ++i) part = to_bf16(part + products[i]);
    total = first == 0 ? part : to_bf16(total + part);
  }
  return static_cast<float>(total);
}

/// Every product of blocks is rounded to bfloat16.
float of_bf16_products(const Products& products, std::size_t chunk) {
  Products rounded;
  for (const double product : products) rounded.push_back(to_bf16(product));
  return sum_of_chunks(rounded, chunk);
}

/// The first product is copied, not added to zero, so a sum of negative zeros stays negative.
double dot_from_the_first(const double* a, const double* b, std::size_t length) {
  double sum = a[0] * b[0];
  for (std::size_t i = 1; i < length; ++i) sum += a[i] * b[i];
  return sum;
}

float from_the_first(const Products& products, std::size_t) {
  auto sum = static_cast<float>(products.front());
  for (std::size_t i = 1; i < products.size(); ++i) sum += static_cast<float>(products[i]);
  return sum;
}

/// Scale rows padded to a multiple of 256 elements where they are stored without padding.
std::size_t padded_scale_place(const Coded& c, std::size_t row, std::size_t block) {
  const std::size_t stride = (c.columns + 255) / 256 * 256 / c.length;
  return row * stride + block;
}

double plain_dot(const double* a, const double* b, std::size_t length) {
  double sum = 0;
  for (std::size_t i = 0; i < length; ++i) sum += a[i] * b[i];
  return sum;
}

float skipping_nan(const Products& products, std::size_t chunk) {
  Products finite;
  for (const double product : products) finite.push_back(std::isnan(product) ? 0 : product);
  return sum_of_chunks(finite, chunk);
}

/// A number of an accumulating unit: significand times 2^exponent, not normalised below the type's smallest number.
struct Aligned {
  double significand = 0;
  int exponent = -126;
};

Aligned aligned(double value, int lowest) {
  if (value == 0) return {0, -126};
  const int exponent = std::max(exponent_of(std::fabs(value)), lowest);
  return {std::ldexp(value, -exponent), exponent};
}

/// 32 products of E4M3 cut to 13 bits behind the largest exponent, and so is the sum.
double cut_dot(const double* a, const double* b, std::size_t length) {
  constexpr int fraction = 13;
  std::vector<Aligned> summands;
  int most = -126;
  for (std::size_t i = 0; i < length; ++i) {
    if (std::isnan(a[i]) || std::isnan(b[i])) return plain_dot(a, b, length);
    const Aligned x = aligned(a[i], -6);
    const Aligned y = aligned(b[i], -6);
    summands.push_back({x.significand * y.significand, x.exponent + y.exponent});
    most = std::max(most, summands.back().exponent);
  }
  double sum = 0;
  for (const Aligned& s : summands) sum += std::trunc(std::ldexp(s.significand, s.exponent - most + fraction));
  const double exact = std::ldexp(sum, most - fraction);
  if (exact == 0) return 0;
  const int step = exponent_of(std::fabs(exact)) - fraction;
  return std::ldexp(std::trunc(std::ldexp(exact, -step)), step);
}

constexpr std::array table = {
    Fault{"sum-in-one-chunk", [](Kernel& k) { k.sum = in_one_chunk; }},
    Fault{"sum-in-double", [](Kernel& k) { k.sum = in_double; }},
    Fault{"sum-backwards", [](Kernel& k) { k.sum = backwards; }},
    Fault{"sum-in-bf16", [](Kernel& k) { k.sum = in_bf16; }},
    Fault{"products-through-bf16", [](Kernel& k) { k.sum = of_bf16_products; }},
    Fault{"result-through-bf16",
          [](Kernel& k) { k.store = [](float c) { return static_cast<float>(to_bf16(static_cast<double>(c))); }; }},
    Fault{"sum-keeps-negative-zero",
          [](Kernel& k) {
            k.dot = dot_from_the_first;
            k.sum = from_the_first;
          }},
    Fault{"nan-products-skipped", [](Kernel& k) { k.sum = skipping_nan; }},
    Fault{"scales-of-a-and-b-swapped", [](Kernel& k) { k.swaps_scales = true; }},
    Fault{"scale-rows-padded-to-256",
          [](Kernel& k) {
            k.scale_place = padded_scale_place;
            k.b_scale_place = padded_scale_place;
          }},
    Fault{"nibbles-of-a-swapped",
          [](Kernel& k) {
            k.a_code_place = [](const Coded& c, std::size_t row, std::size_t column) {
              return (row * c.columns + column) ^ 1U;
            };
          }},
    Fault{"result-transposed", [](Kernel& k) { k.transposes = true; }},
    Fault{"tensor-core-13-bits", [](Kernel& k) { k.dot = cut_dot; }},
};

}  // namespace

std::span<const Fault> product_faults() { return table; }

}  // namespace kernels
