// One E6M2 scale a block and two levels of micro-exponent bits.

#include <algorithm>

#include "reference/exact/block_parts.h"
#include "reference/exact/float_word.h"
#include "reference/exact/scale.h"

namespace fp4proof::exact {
namespace {

/// A value rounded once; an overflow stays above every threshold and every level as the unrounded value.
Rational rounded(const BinaryFormat& format, const Rational& value) { return round_to(format, value).value_or(value); }

/// bfloat16 of one seventh.
Rational bf16_seventh() { return float_value(0x3E120000U); }

Rational wanted_scale(const Profile& profile, const Rational& amax) {
  switch (profile.seventh) {
    case SeventhRule::bf16_product: return rounded(bfloat16, amax * bf16_seventh());
    case SeventhRule::fp32_bf16_product: return rounded(bfloat16, rounded(binary32, amax * bf16_seventh()));
    case SeventhRule::exact: return amax / Rational(7);
  }
  return {};
}

std::uint8_t scale_code(const Profile& profile, const BlockInput& input) {
  if (saturates(input)) return e6m2_max;
  const Rational smallest = e6m2_value(0);
  const Rational largest = e6m2_value(e6m2_max);
  return encode_e6m2(std::clamp(wanted_scale(profile, input.amax), smallest, largest), profile.scale_rounding);
}

Rational reciprocal_of(const Profile& profile, std::uint8_t code) {
  const Rational exact = Rational(1) / e6m2_value(code);
  return profile.reciprocal == Reciprocal::bf16 ? rounded(bfloat16, exact) : exact;
}

Rational threshold_product(ThresholdArithmetic arithmetic, const Rational& product) {
  switch (arithmetic) {
    case ThresholdArithmetic::exact: return product;
    case ThresholdArithmetic::fp32: return rounded(binary32, product);
    case ThresholdArithmetic::bf16: return rounded(bfloat16, product);
  }
  return product;
}

/// The largest magnitude of each cell and whether it holds an infinity.
struct CellMaxima {
  std::vector<Rational> amax;
  std::vector<bool> infinite;
};

CellMaxima cell_maxima(const BlockShape& shape, int parts, std::size_t cells, const BlockInput& input) {
  CellMaxima maxima{std::vector<Rational>(cells), std::vector<bool>(cells)};
  for (std::size_t i = 0; i < input.elements.size(); ++i) {
    const std::size_t cell = hif4_cell(shape, parts, i);
    const Input& element = input.elements[i];
    if (element.kind == Kind::infinity) maxima.infinite[cell] = true;
    if (element.kind == Kind::finite && element.magnitude > maxima.amax[cell]) maxima.amax[cell] = element.magnitude;
  }
  return maxima;
}

void set_level2(const Profile& profile, const BlockInput& input, const Rational& reciprocal, EncodedBlock& block) {
  const CellMaxima maxima = cell_maxima(profile.block, hif4_level2_count, block.level2.size(), input);
  for (std::size_t cell = 0; cell < block.level2.size(); ++cell) {
    const Rational product = threshold_product(profile.threshold_arithmetic, maxima.amax[cell] * reciprocal);
    block.level2[cell] = maxima.infinite[cell] || product >= Rational(4);
  }
}

/// The level-2 bit above each level-3 cell.
std::vector<std::uint8_t> level2_of_level3(const Profile& profile, const EncodedBlock& block) {
  std::vector<std::uint8_t> parents(block.level3.size());
  for (std::size_t i = 0; i < block.codes.size(); ++i)
    parents[hif4_cell(profile.block, hif4_level3_count, i)] =
        block.level2[hif4_cell(profile.block, hif4_level2_count, i)];
  return parents;
}

void set_level3(const Profile& profile, const BlockInput& input, const Rational& reciprocal, EncodedBlock& block) {
  const CellMaxima maxima = cell_maxima(profile.block, hif4_level3_count, block.level3.size(), input);
  const std::vector<std::uint8_t> level2 = level2_of_level3(profile, block);
  for (std::size_t cell = 0; cell < block.level3.size(); ++cell) {
    const Rational scaled = (maxima.amax[cell] * reciprocal).scaled(-int{level2[cell]});
    const Rational product = threshold_product(profile.threshold_arithmetic, scaled);
    block.level3[cell] = maxima.infinite[cell] || product >= Rational(2);
  }
}

}  // namespace

EncodedBlock encode_hif4(const Profile& profile, const BlockInput& input) {
  EncodedBlock block = zero_block(profile);
  block.scale = scale_code(profile, input);
  const Rational reciprocal = reciprocal_of(profile, block.scale);
  const Rational scale = e6m2_value(block.scale);
  set_level2(profile, input, reciprocal, block);
  set_level3(profile, input, reciprocal, block);
  for (std::size_t i = 0; i < input.elements.size(); ++i) {
    const int level = block.level2[hif4_cell(profile.block, hif4_level2_count, i)] +
                      block.level3[hif4_cell(profile.block, hif4_level3_count, i)];
    const Rational y = (input.elements[i].magnitude * reciprocal).scaled(-level);
    block.codes[i] = encode_element(profile, input.elements[i], y, scale.scaled(level));
  }
  return block;
}

}  // namespace fp4proof::exact
