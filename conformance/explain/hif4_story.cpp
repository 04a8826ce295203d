// One E6M2 scale a group and two levels of micro-exponent bits.

#include <fmt/format.h>

#include <algorithm>

#include "conformance/explain/element_story.h"
#include "conformance/explain/family_stories.h"
#include "conformance/explain/grid_choice.h"
#include "conformance/explain/number_text.h"
#include "conformance/explain/rules.h"
#include "formats/float_bits.h"
#include "formats/hif4.h"
#include "reference/exact/float_word.h"
#include "reference/exact/scale.h"

namespace fp4proof::explain {

namespace {

void add(Explanation& explanation, std::string_view id, std::string_view rule, std::string label, std::string text,
         const Rational& value) {
  explanation.steps.push_back({id, rule, std::move(label), std::move(text), value});
}

/// amax / 7 as the profile computes it.
Rational tell_wanted(const Rational& amax, Explanation& explanation) {
  const SeventhRule seventh = explanation.profile->seventh;
  if (seventh == SeventhRule::exact) {
    const Rational wanted = amax / Rational(7);
    add(explanation, "wanted", rule::wanted_scale, "SF", fmt::format("amax / 7 = {}", decimal_text(wanted)), wanted);
    return wanted;
  }
  const Rational bf16_seventh = exact::float_value(0x3E120000U);
  Rational wanted = amax * bf16_seventh;
  add(explanation, "product", rule::wanted_scale, "SF",
      fmt::format("amax * bf16(1/7) = amax * {} = {}", decimal_text(bf16_seventh), decimal_text(wanted)), wanted);
  if (seventh == SeventhRule::fp32_bf16_product) {
    const RoundedStep single = round_step(exact::binary32, wanted);
    add(explanation, "product-binary32", rule::wanted_scale, "in binary32", single.text, single.value);
    wanted = single.value;
  }
  const RoundedStep half = round_step(exact::bfloat16, wanted);
  add(explanation, "product-bfloat16", rule::wanted_scale, "in bfloat16", half.text, half.value);
  return half.value;
}

Rational tell_clamp(const Rational& wanted, Explanation& explanation) {
  const Rational smallest = exact::e6m2_value(0);
  const Rational largest = exact::e6m2_value(e6m2_max);
  const Rational clamped = std::clamp(wanted, smallest, largest);
  if (clamped != wanted) {
    const bool low = clamped == smallest;
    add(explanation, "clamp", rule::wanted_clamp, "clamped",
        fmt::format("to the {} scale, {}", low ? "smallest" : "largest", low ? "2^-48" : decimal_text(largest)),
        clamped);
  }
  return clamped;
}

std::string e6m2_text(std::uint8_t code) {
  return fmt::format("{} (0x{:02x})", decimal_text(exact::e6m2_value(code)), code);
}

/// The E6M2 code of a number within the range of E6M2.
std::uint8_t tell_e6m2(const Rational& wanted, Explanation& explanation) {
  const int log2 = wanted.floor_log2();
  const auto quarters = static_cast<int>(wanted.scaled(2 - log2).floor());
  const auto low = static_cast<std::uint8_t>(4 * (log2 + e6m2_bias) + quarters - 4);
  const Rational below = exact::e6m2_value(low);
  std::uint8_t code = low;
  std::string text = "exact";
  if (below != wanted) {
    const auto high = static_cast<std::uint8_t>(low + 1);
    const Between where{wanted, below, exact::e6m2_value(high)};
    code = nearest_goes_up(where, explanation.profile->scale_rounding, low % 2 == 0) ? high : low;
    text = fmt::format("between {} and {}, {}", e6m2_text(low), e6m2_text(high),
                       nearest_text(where, explanation.profile->scale_rounding));
  }
  add(explanation, "code", rule::e6m2_rounding, "E6M2", fmt::format("{}: code 0x{:02x}", text, code), Rational(code));
  return code;
}

std::uint8_t tell_scale(const BlockFacts& facts, Explanation& explanation) {
  if (facts.first_infinity >= 0) {
    add(explanation, "code", rules_of(Family::hif4).infinity, "E6M2", fmt::format("saturated: code 0x{:02x}", e6m2_max),
        Rational(e6m2_max));
    return e6m2_max;
  }
  const Rational wanted = tell_wanted(exact::float_value(facts.amax_bits), explanation);
  return tell_e6m2(tell_clamp(wanted, explanation), explanation);
}

void tell_scale_value(std::uint8_t code, Explanation& explanation) {
  const Rational scale = exact::e6m2_value(code);
  add(explanation, "scale", rule::e6m2, "scale",
      fmt::format("{}.{}: {} * 2^{} = {}", binary_text(code >> 2, 6), binary_text(code & 3U, 2),
                  decimal_text(Rational(4 + code % 4).scaled(-2)), code / 4 - e6m2_bias, decimal_text(scale)),
      scale);
}

Rational tell_reciprocal(std::uint8_t code, Explanation& explanation) {
  const Rational exact_value = Rational(1) / exact::e6m2_value(code);
  const std::string what = fmt::format("REC = 1 / scale = {}", decimal_text(exact_value));
  if (explanation.profile->reciprocal == Reciprocal::exact) {
    add(explanation, "reciprocal", rule::reciprocal, "reciprocal", what, exact_value);
    return exact_value;
  }
  const std::uint32_t word = std::uint32_t{exact::round_to_bf16(exact_value)} << 16;
  const Rational rounded = exact::float_value(word);
  add(explanation, "reciprocal", rule::reciprocal, "reciprocal",
      rounded == exact_value ? fmt::format("{}, exact in bfloat16", what)
                             : fmt::format("{}, in bfloat16 {} (0x{:04x})", what, decimal_text(rounded), word >> 16),
      rounded);
  return rounded;
}

/// The largest magnitude of a cell, NaN skipped, infinity included.
void find_maximum(const BlockShape& shape, const BlockFacts& facts, LevelBit& bit) {
  const int rows = shape.is_2d() ? bit.extent : 1;
  const int first_row = bit.cell_row * rows;
  const int first_column = bit.cell_column * bit.extent;
  bit.max_index = first_row * shape.cols + first_column;
  for (int row = first_row; row < first_row + rows; ++row) {
    for (int column = first_column; column < first_column + bit.extent; ++column) {
      const int index = row * shape.cols + column;
      const std::uint32_t magnitude = facts.words[static_cast<std::size_t>(index)] & float_magnitude_mask;
      if (is_nan_bits(magnitude) || magnitude <= bit.max_bits) continue;
      bit.max_bits = magnitude;
      bit.max_index = index;
    }
  }
}

Rational compared(ThresholdArithmetic arithmetic, const Rational& product) {
  switch (arithmetic) {
    case ThresholdArithmetic::exact: break;
    case ThresholdArithmetic::fp32: return exact::round_to(exact::binary32, product).value_or(product);
    case ThresholdArithmetic::bf16: return exact::round_to(exact::bfloat16, product).value_or(product);
  }
  return product;
}

LevelBit make_bit(const Profile& profile, const BlockFacts& facts, const Rational& reciprocal, LevelBit bit) {
  find_maximum(profile.block, facts, bit);
  if (bit.max_bits == float_infinity_bits) {
    bit.bit = true;
    return bit;
  }
  bit.product = (exact::float_value(bit.max_bits) * reciprocal).scaled(bit.parent ? -1 : 0);
  bit.compared = compared(profile.threshold_arithmetic, bit.product);
  bit.bit = bit.compared >= Rational(bit.level == 2 ? 4 : 2);
  return bit;
}

/// The level bits, and their cells' places.
class LevelGrid {
 public:
  LevelGrid(const Profile& profile, const BlockFacts& facts, const Rational& reciprocal)
      : rows2_(profile.block.is_2d() ? hif4_level2_count : 1), rows3_(profile.block.is_2d() ? hif4_level3_count : 1) {
    for (int row = 0; row < rows2_; ++row) {
      for (int column = 0; column < hif4_level2_count; ++column) {
        bits_.push_back(make_bit(profile, facts, reciprocal, cell(2, row, column, false)));
      }
    }
    for (int row = 0; row < rows3_; ++row) {
      for (int column = 0; column < hif4_level3_count; ++column) {
        const bool parent = level2(rows3_ == 1 ? 0 : row / 2, column / 2);
        bits_.push_back(make_bit(profile, facts, reciprocal, cell(3, row, column, parent)));
      }
    }
  }

  bool level2(int row, int column) const { return bits_[index_of(row * hif4_level2_count + column)].bit; }
  bool level3(int row, int column) const {
    return bits_[index_of(rows2_ * hif4_level2_count + row * hif4_level3_count + column)].bit;
  }

  /// The sum of the two bits of an element.
  int sum(int row, int column) const {
    return (level2(rows2_ == 1 ? 0 : row / 8, column / 8) ? 1 : 0) +
           (level3(rows3_ == 1 ? 0 : row / 4, column / 4) ? 1 : 0);
  }

  std::uint32_t word_of_row(std::uint8_t e6m2, int row) const {
    std::uint32_t bits2 = 0;
    std::uint32_t bits3 = 0;
    for (int k = 0; k < hif4_level2_count; ++k) bits2 |= (level2(rows2_ == 1 ? 0 : row / 8, k) ? 1U : 0U) << k;
    for (int k = 0; k < hif4_level3_count; ++k) bits3 |= (level3(rows3_ == 1 ? 0 : row / 4, k) ? 1U : 0U) << k;
    return hif4_word(e6m2, bits2, bits3);
  }

  const std::vector<LevelBit>& bits() const { return bits_; }

 private:
  static std::size_t index_of(int index) { return static_cast<std::size_t>(index); }
  static LevelBit cell(int level, int row, int column, bool parent) {
    LevelBit bit;
    bit.level = level;
    bit.cell_row = row;
    bit.cell_column = column;
    bit.extent = level == 2 ? 8 : 4;
    bit.parent = parent;
    return bit;
  }

  int rows2_;
  int rows3_;
  std::vector<LevelBit> bits_;
};

void tell_element(const Profile& profile, const Rational& reciprocal, const Rational& scale, std::uint32_t random,
                  ElementStory& story) {
  if (is_nan_bits(story.word)) return settle(Cause::nan_ignored, rules_of(profile.family).nan, 0, story);
  if (is_inf_bits(story.word)) return clamp_infinity(profile, story);
  const Rational magnitude = exact::float_value(story.word & float_magnitude_mask);
  decide(profile, (magnitude * reciprocal).scaled(-story.level_sum), scale.scaled(story.level_sum), random, story);
}

}  // namespace

void tell_hif4(const BlockFacts& facts, Explanation& explanation) {
  const Profile& profile = *explanation.profile;
  if (facts.amax_bits == 0 && facts.first_infinity < 0) {
    explanation.steps.push_back(
        {"zero", rule::hif4_zero_group, "zero group", "E6M2 has no zero: the smallest scale, every level bit 0", {}});
  }
  const std::uint8_t code = tell_scale(facts, explanation);
  tell_scale_value(code, explanation);
  const Rational reciprocal = tell_reciprocal(code, explanation);
  const Rational scale = exact::e6m2_value(code);
  const LevelGrid grid(profile, facts, reciprocal);
  explanation.level_bits = grid.bits();
  for (int row = 0; row < profile.block.rows; ++row) {
    explanation.row_scales.push_back(grid.word_of_row(code, row));
    for (int column = 0; column < profile.block.cols; ++column) {
      const int index = row * profile.block.cols + column;
      ElementStory story = begin_story(explanation.question, index, facts.words[static_cast<std::size_t>(index)]);
      story.level_sum = grid.sum(row, column);
      tell_element(profile, reciprocal, scale, random_of(explanation, index), story);
      explanation.elements.push_back(std::move(story));
    }
  }
}

}  // namespace fp4proof::explain
