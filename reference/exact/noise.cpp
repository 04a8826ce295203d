#include "reference/exact/noise.h"

#include <algorithm>

#include "reference/exact/extended.h"
#include "reference/exact/float_word.h"

namespace fp4proof::exact {
namespace {

Rational power(const Rational& base, std::uint32_t exponent) {
  Rational result(1);
  for (std::uint32_t i = 0; i < exponent; ++i) result = result * base;
  return result;
}

}  // namespace

std::uint32_t geometric_step(std::uint32_t start, std::uint32_t end, std::uint32_t i, std::uint32_t n) {
  // sigma^n = start^(n - i) end^i, and powers of positive numbers keep their order.
  const Rational target = power(float_value(start), n - i) * power(float_value(end), i);
  std::uint32_t below = std::min(start, end);
  std::uint32_t above = std::max(start, end);
  if (power(float_value(above), n) == target) return above;
  while (above - below > 1) {
    const std::uint32_t middle = below + (above - below) / 2;
    (power(float_value(middle), n) <= target ? below : above) = middle;
  }
  const Rational half_way = (float_value(below) + float_value(above)).scaled(-1);
  const Rational half_way_power = power(half_way, n);
  if (target == half_way_power) return below % 2 == 0 ? below : above;
  return target < half_way_power ? below : above;
}

std::uint32_t noise_sigma(const NoiseIntervals& noise, std::uint32_t step) {
  const auto interval = static_cast<std::uint32_t>(std::uint64_t{step} * noise.intervals / noise.steps);
  if (!noise.first_silent) return geometric_step(noise.start, noise.end, interval, noise.intervals - 1);
  if (interval == 0) return 0;
  return geometric_step(noise.start, noise.end, interval - 1, noise.intervals - 2);
}

std::uint32_t noisy_weight(std::uint32_t w, std::uint32_t sigma, std::uint32_t normal) {
  if (sigma == 0) return w;
  return add_floats(w, multiply_floats(sigma, normal));
}

}  // namespace fp4proof::exact
