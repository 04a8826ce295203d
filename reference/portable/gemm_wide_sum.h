#pragma once
// A sum wide enough for every product of two scaled blocks, weighted or not: order-free, rounded once.

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "formats/float_bits.h"

namespace fp4proof::portable {

/// A two's complement fixed-point number of 768 bits, the lowest worth 2^-384. Block products are multiples of 2^-286
/// below 2^291, weights multiples of 2^-25 below 4, so 2^90 weighted products fit.
class WideSum {
 public:
  /// Adds a binary64 number: zero, or of a magnitude from 2^-330 to 2^300. NaN and infinities add up by IEEE 754 and
  /// then decide the sum.
  void add(double term) {
    const auto word = bits_as<std::uint64_t>(term);
    const auto field = static_cast<int>((word >> 52) & 0x7FFU);
    if (field == 0) return;
    if (field == 0x7FF) {
      special_ += term;
      return;
    }
    const std::uint64_t significand = (word & 0x000FFFFFFFFFFFFFU) | 0x0010000000000000U;
    const int position = field - 1075 - lowest_exponent;
    const auto index = static_cast<std::size_t>(position / 64);
    const int shift = position % 64;
    const std::uint64_t low = significand << shift;
    const std::uint64_t high = shift == 0 ? 0 : significand >> (64 - shift);
    const bool negative = (word >> 63) != 0;
    if (negative) {
      subtract_at(index, low);
      subtract_at(index + 1, high);
    } else {
      add_at(index, low);
      add_at(index + 1, high);
    }
  }

  /// Adds the exact product of a block product and a weight: the upper half of the significand and the rest have exact
  /// products with 24 bits.
  void add_product(double term, float weight) {
    constexpr std::uint64_t upper_half = ~((std::uint64_t{1} << 27) - 1);
    const auto word = bits_as<std::uint64_t>(term);
    const double upper = bits_as<double>(word & upper_half);
    add(upper * weight);
    if (upper != term && std::isfinite(upper)) add((term - upper) * weight);
  }

  /// The sum rounded once to binary32, ties to even; +0 where it is zero.
  float rounded() const {
    if (special_ != 0.0) return static_cast<float>(special_);
    const bool negative = (words_.back() >> 63) != 0;
    const Words magnitude = negative ? negated() : words_;
    const double rounded_to_odd = leading_bits(magnitude);
    return static_cast<float>(negative ? -rounded_to_odd : rounded_to_odd);
  }

 private:
  static constexpr int lowest_exponent = -384;
  static constexpr std::size_t word_count = 12;
  using Words = std::array<std::uint64_t, word_count>;

  void add_at(std::size_t index, std::uint64_t addend) {
    for (; addend != 0 && index < word_count; ++index) {
      words_[index] += addend;
      addend = words_[index] < addend ? 1 : 0;
    }
  }
  void subtract_at(std::size_t index, std::uint64_t subtrahend) {
    for (; subtrahend != 0 && index < word_count; ++index) {
      const std::uint64_t before = words_[index];
      words_[index] = before - subtrahend;
      subtrahend = before < subtrahend ? 1 : 0;
    }
  }

  Words negated() const {
    WideSum zero;
    for (std::size_t i = 0; i < word_count; ++i) zero.subtract_at(i, words_[i]);
    return zero.words_;
  }

  /// The 53 leading bits, the last one set where anything below them is: rounding that to binary32 rounds the whole.
  static double leading_bits(const Words& magnitude) {
    std::size_t top = word_count;
    while (top > 0 && magnitude[top - 1] == 0) --top;
    if (top == 0) return 0.0;
    --top;
    const int shift = std::countl_zero(magnitude[top]);
    std::uint64_t leading = magnitude[top] << shift;
    std::uint64_t rest = 0;
    if (top > 0 && shift > 0) {
      leading |= magnitude[top - 1] >> (64 - shift);
      rest = magnitude[top - 1] << shift;
    } else if (top > 0) {
      rest = magnitude[top - 1];
    }
    for (std::size_t i = 0; i + 1 < top; ++i) rest |= magnitude[i];
    const std::uint64_t sticky = (leading & 0x7FFU) != 0 || rest != 0 ? 1 : 0;
    const auto significand = static_cast<double>((leading >> 11) | sticky);
    return significand * pow2d(lowest_exponent + 64 * static_cast<int>(top) - shift + 11);
  }

  Words words_{};
  double special_ = 0.0;
};

}  // namespace fp4proof::portable
