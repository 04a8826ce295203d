#pragma once
// Rounding decisions as tables of binary32 words, read off the scalar encoders of formats/.
// A code is a monotone step function of the magnitude, so "the smallest word that reaches code c" says all there is to
// say, and the comparison with it vectorises. No rounding is decided here a second time.

#include <algorithm>
#include <array>
#include <cstdint>

#include "formats/block_codec.h"

namespace fp4proof::portable {

/// The smallest word in [low, high) for which `reached` holds; `high` if there is none. `reached` must be monotone.
template <class Predicate>
std::uint32_t first_word_between(std::uint32_t low, std::uint32_t high, Predicate reached) {
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

/// The same over all finite magnitudes; infinity if there is none.
template <class Predicate>
std::uint32_t first_word(Predicate reached) {
  return first_word_between(0, float_infinity_bits, reached);
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

/// MX scale codes by the exponent field of amax: one binade holds at most one step of the code.
class MxScaleTable {
 public:
  explicit MxScaleTable(const Profile& profile) : profile_(profile) {
    for (std::uint32_t field = 1; field < 255; ++field) {
      const std::uint32_t first = field << 23;
      const std::uint32_t last = first | 0x7FFFFFU;
      Binade& binade = binades_[field];
      binade.low = mx_scale_code(profile, first);
      binade.step = static_cast<std::uint8_t>(mx_scale_code(profile, last) - binade.low);
      const auto stepped = [&](std::uint32_t word) { return mx_scale_code(profile, word) != binade.low; };
      binade.split = binade.step == 0 ? last : first_word_between(first, last, stepped);
    }
  }

  /// The scale code of a finite, non-zero amax.
  std::uint8_t operator()(std::uint32_t amax_bits) const {
    const std::uint32_t field = amax_bits >> 23;
    if (field == 0) return mx_scale_code(profile_, amax_bits);
    // A product, not a choice: which side of the split a block lies on is as good as random, and no branch foresees it.
    const Binade& binade = binades_[field];
    return static_cast<std::uint8_t>(binade.low + binade.step * (amax_bits >= binade.split ? 1 : 0));
  }

 private:
  struct Binade {
    std::uint32_t split = 0;
    std::uint8_t low = 0;
    std::uint8_t step = 0;
  };
  Profile profile_;
  std::array<Binade, 255> binades_{};
};

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

/// HiF4 scale codes: within one binade of amax the code takes four steps, and a binade up it is four larger.
class Hif4ScaleTable {
 public:
  explicit Hif4ScaleTable(const Profile& profile) {
    base_ = hif4_scale_code(profile, one_);
    for (std::uint32_t k = 0; k < steps_.size(); ++k) {
      steps_[k] = first_word_between(one_, 2 * one_binade_ + one_, [&](std::uint32_t word) {
        return hif4_scale_code(profile, word) > base_ + static_cast<int>(k);
      });
    }
  }

  /// The E6M2 code of a finite amax.
  std::uint8_t operator()(std::uint32_t amax_bits) const {
    const int binade = static_cast<int>(amax_bits >> 23) - 127;
    const std::uint32_t significand = one_ | (amax_bits & 0x7FFFFFU);
    int code = base_ + 4 * binade;
    for (const std::uint32_t step : steps_) code += significand >= step ? 1 : 0;
    return static_cast<std::uint8_t>(code < 0 ? 0 : code > e6m2_max ? int{e6m2_max} : code);
  }

 private:
  static constexpr std::uint32_t one_ = 0x3F800000U;
  static constexpr std::uint32_t one_binade_ = 1U << 23;
  int base_ = 0;
  std::array<std::uint32_t, 4> steps_{};
};

/// Codes of wide elements (MXFP8, MXFP6) under exact arithmetic and a deterministic rounding: every decision falls on a
/// grid point or halfway between two, so the word cut to half a grid step, and whether anything was cut, give the code.
class HalfStepTable {
 public:
  explicit HalfStepTable(const Profile& profile) {
    const ElementSpec spec = element_spec(profile.element);
    shift_ = 22 - spec.mantissa_bits;
    // From a quarter of the smallest element, which every deterministic rounding sends to zero, to beyond the largest.
    lowest_ = cell_of_exponent(-(spec.bias + spec.mantissa_bits + 1));
    highest_ = cell_of_exponent(spec.emax + 1);
    for (int cell = lowest_; cell <= highest_; ++cell) {
      const std::uint32_t word = static_cast<std::uint32_t>(cell) << shift_;
      for (const std::uint32_t rest : {0U, 1U}) {
        codes_[static_cast<std::size_t>(2 * (cell - lowest_)) + rest] =
            static_cast<std::uint8_t>(mx_encode_element(profile, e8m0_bias, word | rest, 0) & (spec.sign_mask() - 1));
      }
    }
  }

  /// The magnitude code of a scaled magnitude.
  std::uint8_t operator()(float scaled) const {
    const std::uint32_t word = float_bits(scaled);
    const int cell = std::clamp(static_cast<int>(word >> shift_), lowest_, highest_);
    const std::uint32_t rest = (word & ((1U << shift_) - 1U)) != 0 ? 1U : 0U;
    return codes_[static_cast<std::size_t>(2 * (cell - lowest_)) + rest];
  }

 private:
  int cell_of_exponent(int exponent) const {
    return static_cast<int>((static_cast<std::uint32_t>(exponent + 127) << 23) >> shift_);
  }

  int shift_ = 0;
  int lowest_ = 0;
  int highest_ = 0;
  std::array<std::uint8_t, 1024> codes_{};
};

}  // namespace fp4proof::portable
