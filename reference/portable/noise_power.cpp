#include "reference/portable/noise_power.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

namespace fp4proof::portable {

namespace {

constexpr int limb_bits = 32;

enum class Direction : std::uint8_t { down, up };

/// limbs * 2^exponent, lowest limb first; the top bit of the highest limb is set.
struct WideNumber {
  std::vector<std::uint32_t> limbs;
  std::int64_t exponent = 0;
};

void normalize(WideNumber& x) {
  while (x.limbs.back() == 0) {
    x.limbs.pop_back();
  }
  const int shift = std::countl_zero(x.limbs.back());
  if (shift == 0) return;
  for (std::size_t i = x.limbs.size() - 1; i > 0; --i) {
    x.limbs[i] = (x.limbs[i] << shift) | (x.limbs[i - 1] >> (limb_bits - shift));
  }
  x.limbs[0] <<= shift;
  x.exponent -= shift;
}

WideNumber wide_number(const Magnitude& m) {
  WideNumber x{{static_cast<std::uint32_t>(m.significand)}, m.exponent};
  normalize(x);
  return x;
}

/// The nearest number of at most `width` limbs in that direction.
void truncate(WideNumber& x, std::size_t width, Direction direction) {
  if (x.limbs.size() <= width) return;
  const std::size_t dropped = x.limbs.size() - width;
  const auto end = x.limbs.begin() + static_cast<std::ptrdiff_t>(dropped);
  const bool is_exact = std::all_of(x.limbs.begin(), end, [](std::uint32_t limb) { return limb == 0; });
  x.limbs.erase(x.limbs.begin(), end);
  x.exponent += static_cast<std::int64_t>(dropped) * limb_bits;
  if (is_exact || direction == Direction::down) return;
  std::size_t i = 0;
  while (i < width && ++x.limbs[i] == 0) ++i;
  if (i == width) x = {{0x80000000U}, x.exponent + static_cast<std::int64_t>(width) * limb_bits - (limb_bits - 1)};
}

WideNumber multiplied(const WideNumber& a, const WideNumber& b, std::size_t width, Direction direction) {
  WideNumber result{std::vector<std::uint32_t>(a.limbs.size() + b.limbs.size(), 0), a.exponent + b.exponent};
  for (std::size_t i = 0; i < a.limbs.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < b.limbs.size(); ++j) {
      const std::uint64_t sum = std::uint64_t{a.limbs[i]} * b.limbs[j] + result.limbs[i + j] + carry;
      result.limbs[i + j] = static_cast<std::uint32_t>(sum);
      carry = sum >> limb_bits;
    }
    result.limbs[i + b.limbs.size()] = static_cast<std::uint32_t>(carry);
  }
  normalize(result);
  truncate(result, width, direction);
  return result;
}

WideNumber power(const Magnitude& base, std::uint32_t exponent, std::size_t width, Direction direction) {
  WideNumber result = wide_number({1, 0});
  const WideNumber factor = wide_number(base);
  for (int bit = static_cast<int>(std::bit_width(exponent)) - 1; bit >= 0; --bit) {
    result = multiplied(result, result, width, direction);
    if (((exponent >> bit) & 1U) != 0) result = multiplied(result, factor, width, direction);
  }
  return result;
}

int compare(const WideNumber& a, const WideNumber& b) {
  const auto top = [](const WideNumber& x) {
    return x.exponent + static_cast<std::int64_t>(x.limbs.size()) * limb_bits;
  };
  if (top(a) != top(b)) return top(a) > top(b) ? 1 : -1;
  const auto limb = [](const WideNumber& x, std::size_t from_top) {
    return from_top < x.limbs.size() ? x.limbs[x.limbs.size() - 1 - from_top] : 0U;
  };
  for (std::size_t i = 0; i < std::max(a.limbs.size(), b.limbs.size()); ++i) {
    if (limb(a, i) != limb(b, i)) return limb(a, i) > limb(b, i) ? 1 : -1;
  }
  return 0;
}

}  // namespace

int compare_with(const GeometricMean& mean, const Magnitude& limit) {
  for (std::size_t width = 8;; width *= 2) {
    const auto left = [&](Direction direction) {
      return multiplied(power(mean.first, mean.q - mean.p, width, direction),
                        power(mean.last, mean.p, width, direction), width, direction);
    };
    const WideNumber low = left(Direction::down);
    const WideNumber high = left(Direction::up);
    const WideNumber limit_low = power(limit, mean.q, width, Direction::down);
    const WideNumber limit_high = power(limit, mean.q, width, Direction::up);
    if (compare(low, limit_high) > 0) return 1;
    if (compare(high, limit_low) < 0) return -1;
    if (compare(low, high) == 0 && compare(limit_low, limit_high) == 0) return 0;
  }
}

}  // namespace fp4proof::portable
