#include "reference/exact/decomposition.h"

#include <algorithm>
#include <optional>

#include "reference/exact/block.h"
#include "reference/exact/block_parts.h"
#include "reference/exact/element.h"
#include "reference/exact/float_word.h"

namespace fp4proof::exact {
namespace {

bool is_finite(std::uint32_t word) { return !is_nan(word) && !is_infinity(word); }

Rational magnitude_of(std::uint32_t word) { return float_value(word & ~float_sign); }

/// What the ideal scale divides m by: the largest value that a block of scale 1 can hold.
Rational ideal_divisor(const Profile& profile) {
  return profile.family == Family::hif4 ? Rational(7) : largest(profile.element);
}

Rational largest_finite(std::span<const std::uint32_t> words) {
  Rational amax;
  for (const std::uint32_t word : words)
    if (is_finite(word)) amax = std::max(amax, magnitude_of(word));
  return amax;
}

/// The ideal quantizer of one block: |x| in units of the ideal scale, and the level bits where the family has them.
class IdealBlock {
 public:
  IdealBlock(const Profile& profile, std::span<const std::uint32_t> words)
      : profile_(profile), amax_(largest_finite(words)) {
    if (profile.family == Family::hif4) set_levels(words);
  }

  const Rational& amax() const { return amax_; }
  const std::vector<std::uint8_t>& level2() const { return level2_; }
  const std::vector<std::uint8_t>& level3() const { return level3_; }

  std::uint8_t code(std::size_t index, const Rational& magnitude, std::uint32_t random_word) const {
    if (amax_.is_zero()) return 0;
    const Rational y = in_units(magnitude).scaled(-levels_above(index));
    return encode_magnitude(profile_.element, profile_.rounding, y,
                            random_bits_of_word(random_word, profile_.random_bits));
  }

  /// The element's code value times its levels, in units of the ideal scale.
  Rational units(std::size_t index, std::uint8_t code) const {
    return magnitudes(profile_.element)[code].scaled(levels_above(index));
  }

 private:
  Rational in_units(const Rational& magnitude) const { return magnitude * ideal_divisor(profile_) / amax_; }

  int levels_above(std::size_t index) const {
    if (profile_.family != Family::hif4) return 0;
    return level2_[hif4_cell(profile_.block, hif4_level2_count, index)] +
           level3_[hif4_cell(profile_.block, hif4_level3_count, index)];
  }

  void set_levels(std::span<const std::uint32_t> words) {
    const EncodedBlock empty = zero_block(profile_);
    level2_ = empty.level2;
    level3_ = empty.level3;
    for (std::size_t i = 0; i < words.size(); ++i)
      if (reaches(words[i], 0, Rational(4))) level2_[hif4_cell(profile_.block, hif4_level2_count, i)] = 1;
    for (std::size_t i = 0; i < words.size(); ++i) {
      const int above = level2_[hif4_cell(profile_.block, hif4_level2_count, i)];
      if (reaches(words[i], above, Rational(2))) level3_[hif4_cell(profile_.block, hif4_level3_count, i)] = 1;
    }
  }

  bool reaches(std::uint32_t word, int levels, const Rational& threshold) const {
    if (is_infinity(word)) return true;
    if (is_nan(word) || amax_.is_zero()) return false;
    return in_units(magnitude_of(word)).scaled(-levels) >= threshold;
  }

  const Profile& profile_;
  Rational amax_;
  std::vector<std::uint8_t> level2_;
  std::vector<std::uint8_t> level3_;
};

/// F / divisor, a power of two: F Q* = m * units * 2^factor_exponent needs no division.
int factor_exponent(const Profile& profile) {
  return (Rational(error_factor(profile)) / ideal_divisor(profile)).floor_log2();
}

SplitElement split_element(const Profile& profile, const IdealBlock& ideal, std::size_t index, std::uint32_t word,
                           std::uint32_t quantized_word, std::uint32_t random_word) {
  SplitElement element;
  if (!is_finite(word) || !is_finite(quantized_word)) {
    element.excluded = true;
    return element;
  }
  const Rational factor(error_factor(profile));
  element.value = float_value(word);
  element.quantized = float_value(quantized_word);
  element.negative = is_negative(word);
  element.quantized_negative = is_negative(quantized_word);
  element.ideal_code = ideal.code(index, element.value.abs(), random_word);
  const Rational magnitude = ideal.amax() * ideal.units(index, element.ideal_code);
  const Rational signed_magnitude = element.negative ? -magnitude : magnitude;
  element.ideal = signed_magnitude / ideal_divisor(profile);
  const bool is_dead = element.ideal.is_zero();
  element.in_deadzone = is_dead && !element.value.is_zero();
  element.zeroed = element.quantized.is_zero() && !element.value.is_zero();

  const Rational ideal_times_factor = signed_magnitude.scaled(factor_exponent(profile));
  const Rational rest = ideal_times_factor - factor * element.value;
  element.error = factor * element.quantized - factor * element.value;
  element.scale = factor * element.quantized - ideal_times_factor;
  (is_dead ? element.deadzone : element.grid) = rest;
  return element;
}

/// Rounded to binary64. No sum of terms leaves its range.
Rational rounded(const Rational& exact) { return round_to(binary64, exact).value_or(Rational()); }

/// A term and whether rounding changed it.
struct Term {
  Rational value;
  bool inexact;
};
Term rounded_term(const Rational& exact) {
  const Rational value = rounded(exact);
  return {value, value != exact};
}

using Lane = std::array<Rational, split_sum_count>;

void add_to(Lane& lane, const Lane& other) {
  for (std::size_t i = 0; i < lane.size(); ++i) lane[i] = rounded(lane[i] + other[i]);
}

/// Counts one element and answers its products, each rounded once.
Lane products_of(const Rational& factor, const SplitElement& element, SplitSums& counts) {
  const Term error = rounded_term(element.error);
  const Term scale = rounded_term(element.scale);
  const Term deadzone = rounded_term(element.deadzone);
  const Term grid = rounded_term(element.grid);
  if (error.inexact || scale.inexact || deadzone.inexact || grid.inexact) ++counts.inexact;
  if (rounded(rounded(scale.value + deadzone.value) + grid.value) != error.value) ++counts.identity_failures;
  const Rational value = factor * element.value;
  const Rational quantized = factor * element.quantized;
  return {rounded(value * value),
          rounded(quantized * value),
          rounded(error.value * error.value),
          rounded(scale.value * scale.value),
          rounded(deadzone.value * deadzone.value),
          rounded(grid.value * grid.value),
          rounded(scale.value * grid.value),
          rounded(scale.value * deadzone.value)};
}

constexpr std::size_t lane_count = 32;
constexpr std::size_t segment_length = 4096;

Lane folded(std::array<Lane, lane_count> lanes) {
  for (const std::size_t distance : {16U, 8U, 4U, 2U, 1U}) {
    const std::array<Lane, lane_count> before = lanes;
    for (std::size_t l = 0; l < lane_count; ++l) add_to(lanes[l], before[l ^ distance]);
  }
  return lanes[0];
}

Lane sum_segment(const Rational& factor, std::span<const SplitElement> elements, SplitSums& counts) {
  std::array<Lane, lane_count> lanes;
  for (std::size_t column = 0; column < elements.size(); ++column) {
    const SplitElement& element = elements[column];
    ++counts.elements;
    counts.excluded += element.excluded ? 1 : 0;
    counts.in_deadzone += element.in_deadzone ? 1 : 0;
    counts.zeroed += element.zeroed ? 1 : 0;
    if (!element.excluded) add_to(lanes[column % lane_count], products_of(factor, element, counts));
  }
  return folded(std::move(lanes));
}

}  // namespace

int error_factor(const Profile& profile) {
  if (profile.family == Family::hif4) return 7;
  switch (profile.element) {
    case Element::e2m1: return 6;
    case Element::e2m3: return 15;
    default: return 7;
  }
}

SplitBlock split_block(const Profile& profile, std::span<const std::uint32_t> words,
                       std::span<const std::uint32_t> random_words, std::uint32_t tensor_scale,
                       std::span<const std::uint32_t> quantized_words) {
  std::vector<std::uint32_t> own;
  if (quantized_words.empty()) {
    const EncodedBlock encoded = encode_block(profile, words, random_words, tensor_scale);
    if (encoded.rejected) return {.rejected = true, .amax = {}, .ideal_level2 = {}, .ideal_level3 = {}, .elements = {}};
    own = decode_block(profile, encoded, tensor_scale);
    quantized_words = own;
  }
  const IdealBlock ideal(profile, words);
  SplitBlock block{false, ideal.amax(), ideal.level2(), ideal.level3(), {}};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint32_t random_word = i < random_words.size() ? random_words[i] : 0;
    block.elements.push_back(split_element(profile, ideal, i, words[i], quantized_words[i], random_word));
  }
  return block;
}

TermWords term_words(const SplitElement& element) {
  // Of the four differences only -0 - (+0) is -0: Q(x) is -0, and x or Q* is +0.
  const bool negative_zero = element.quantized.is_zero() && element.quantized_negative && !element.negative;
  const auto difference_from_quantized = [&](const Rational& term) {
    return term.is_zero() && negative_zero ? std::uint64_t{1} << 63 : word_of(binary64, term);
  };
  return {difference_from_quantized(element.error), difference_from_quantized(element.scale),
          word_of(binary64, element.deadzone), word_of(binary64, element.grid)};
}

void SplitSums::add(const SplitSums& other) {
  elements += other.elements;
  excluded += other.excluded;
  in_deadzone += other.in_deadzone;
  zeroed += other.zeroed;
  inexact += other.inexact;
  identity_failures += other.identity_failures;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Rational sum = *value_of(binary64, words[i]) + *value_of(binary64, other.words[i]);
    words[i] = word_of(binary64, sum);
  }
}

SplitSums sum_row(const Profile& profile, std::span<const SplitElement> elements) {
  const Rational factor(error_factor(profile));
  SplitSums sums;
  Lane total;
  for (std::size_t first = 0; first < elements.size(); first += segment_length) {
    const std::size_t length = std::min(segment_length, elements.size() - first);
    add_to(total, sum_segment(factor, elements.subspan(first, length), sums));
  }
  for (std::size_t i = 0; i < total.size(); ++i) sums.words[i] = word_of(binary64, total[i]);
  return sums;
}

}  // namespace fp4proof::exact
