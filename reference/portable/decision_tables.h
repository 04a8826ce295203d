#pragma once
// Rounding decisions as tables of binary32 words, read off the scalar encoders of formats/.
// A code is a monotone step function of the magnitude, so "the smallest word that reaches code c" says all there is to
// say, and the comparison with it vectorises. No rounding is decided here a second time.

#include <array>
#include <cstdint>

#include "formats/block_codec.h"

namespace fp4proof::portable {

/// The smallest magnitude word in [0, infinity) for which `reached` holds; infinity if there is none.
/// `reached` must be monotone.
template <class Predicate>
std::uint32_t first_word(Predicate reached) {
  std::uint32_t low = 0;
  std::uint32_t high = float_infinity_bits;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (reached(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

inline constexpr int max_levels = 15;

/// thresholds[c - 1]: the smallest scaled magnitude that gets at least code c. Unused entries are infinity.
using Thresholds = std::array<float, max_levels>;

/// MX elements at scale 2^0. Scaling by a power of two does not change the decision.
inline Thresholds mx_thresholds(const Profile& profile) {
  const ElementSpec spec = element_spec(profile.element);
  Thresholds t;
  t.fill(float_from_bits(float_infinity_bits));
  for (int c = 1; c <= spec.max_code && c <= max_levels; ++c) {
    t[static_cast<std::size_t>(c - 1)] = float_from_bits(first_word([&](std::uint32_t word) {
      return (mx_encode_element(profile, e8m0_bias, word, 0) & (spec.sign_mask() - 1)) >= c;
    }));
  }
  return t;
}

/// HiF4 decisions under an E6M2 scale of exponent 0 and one of the four mantissas.
struct Hif4Table {
  Thresholds element;
  float level2;  ///< smallest maximum of an eighth whose level-2 bit is set
  float level3;  ///< smallest maximum of a sixteenth whose level-3 bit is set, where the level-2 bit is clear
};

inline std::array<Hif4Table, 4> hif4_tables(const Profile& profile) {
  const ElementSpec spec = element_spec(profile.element);
  std::array<Hif4Table, 4> tables;
  for (std::uint8_t mantissa = 0; mantissa < 4; ++mantissa) {
    const auto e6m2 = static_cast<std::uint8_t>((e6m2_bias << 2) | mantissa);
    Hif4Table& table = tables[mantissa];
    table.element.fill(float_from_bits(float_infinity_bits));
    for (int c = 1; c <= spec.max_code && c <= max_levels; ++c) {
      table.element[static_cast<std::size_t>(c - 1)] = float_from_bits(first_word([&](std::uint32_t word) {
        return (hif4_encode_element(profile, e6m2, 0, word, 0) & (spec.sign_mask() - 1)) >= c;
      }));
    }
    const auto level = [&](int log2) {
      return float_from_bits(first_word([&](std::uint32_t word) { return hif4_reaches(profile, e6m2, word, log2); }));
    };
    table.level2 = level(2);
    table.level3 = level(1);
  }
  return tables;
}

/// Codes of wide elements (MXFP8, MXFP6) under exact arithmetic and a deterministic rounding: every decision falls on a
/// grid point or halfway between two, so the word cut to half a grid step, and whether anything was cut, give the code.
class HalfStepTable {
 public:
  explicit HalfStepTable(const Profile& profile) : spec_(element_spec(profile.element)) {
    shift_ = 22 - spec_.mantissa_bits;
    lowest_ = (127U - static_cast<unsigned>(spec_.bias + spec_.mantissa_bits + 2)) << 23 >> shift_;
    highest_ = (static_cast<unsigned>(spec_.emax + 128) << 23) >> shift_;
    for (std::uint32_t cell = lowest_; cell <= highest_; ++cell) {
      const std::uint32_t word = cell << shift_;
      const std::size_t at = 2 * (cell - lowest_);
      codes_[at] = magnitude_code(profile, word);
      codes_[at + 1] = magnitude_code(profile, word | 1U);
    }
    below_ = magnitude_code(profile, 1U);  // rounding never lifts the deep underflow off zero, but the rule decides
  }

  std::uint8_t operator()(float scaled) const {
    const std::uint32_t word = float_bits(scaled);
    const std::uint32_t cell = word >> shift_;
    if (cell < lowest_) return word == 0 ? std::uint8_t{0} : below_;
    if (cell > highest_) return spec_.max_code;
    const std::uint32_t rest = (word & ((1U << shift_) - 1U)) != 0 ? 1U : 0U;
    return codes_[2 * (cell - lowest_) + rest];
  }

 private:
  std::uint8_t magnitude_code(const Profile& profile, std::uint32_t word) const {
    return static_cast<std::uint8_t>(mx_encode_element(profile, e8m0_bias, word, 0) & (spec_.sign_mask() - 1));
  }

  ElementSpec spec_;
  int shift_ = 0;
  std::uint32_t lowest_ = 0;
  std::uint32_t highest_ = 0;
  std::uint8_t below_ = 0;
  std::array<std::uint8_t, 1024> codes_{};
};

}  // namespace fp4proof::portable
