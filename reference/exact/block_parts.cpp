#include "reference/exact/block_parts.h"

#include "reference/exact/element_arithmetic.h"
#include "reference/exact/float_word.h"
#include "reference/exact/scale.h"

namespace fp4proof::exact {
namespace {

Input read_element(const Profile& profile, std::uint32_t word) {
  if (profile.input_rounding == InputRounding::bf16) word = round_word_to_bf16(word);
  Input input;
  input.negative = is_negative(word);
  if (is_nan(word))
    input.kind = Kind::nan;
  else if (is_infinity(word))
    input.kind = Kind::infinity;
  else
    input.magnitude = float_value(word & ~float_sign);
  if (profile.tiny == TinyPolicy::flush_inputs && input.magnitude < Rational::power_of_two(-126))
    input.magnitude = Rational();
  return input;
}

std::uint8_t signed_code(const Profile& profile, std::uint8_t magnitude, bool negative) {
  const std::uint8_t sign = negative ? element_spec(profile.element).sign_mask() : std::uint8_t{0};
  return static_cast<std::uint8_t>(sign | magnitude);
}

std::uint8_t largest_code(const Profile& profile, bool negative) {
  return signed_code(profile, element_spec(profile.element).max_code, negative);
}

EncodedBlock nan_block(const Profile& profile) {
  EncodedBlock block = zero_block(profile);
  block.scale = nan_scale_code(profile.family);
  return block;
}

EncodedBlock rejected_block() {
  EncodedBlock block;
  block.rejected = true;
  return block;
}

/// Every element times a scale of zero, and what the conversion makes of it: 0 * infinity is the negative default NaN,
/// and NaN converts to the largest code.
std::uint8_t code_under_zero_scale(const Profile& profile, const Input& input) {
  switch (input.kind) {
    case Kind::finite: return signed_code(profile, 0, input.negative);
    case Kind::infinity: return largest_code(profile, true);
    case Kind::nan: return largest_code(profile, input.negative);
  }
  return 0;
}

EncodedBlock scale_zero_block(const Profile& profile, const BlockInput& input) {
  EncodedBlock block = zero_block(profile);
  for (std::size_t i = 0; i < input.elements.size(); ++i)
    block.codes[i] = code_under_zero_scale(profile, input.elements[i]);
  return block;
}

std::optional<EncodedBlock> settle_nan(const Profile& profile, const BlockInput& block) {
  switch (profile.nan) {
    case NanPolicy::scale_nan: return nan_block(profile);
    case NanPolicy::error: return rejected_block();
    case NanPolicy::scale_zero: return scale_zero_block(profile, block);
    case NanPolicy::ignore: break;
  }
  return std::nullopt;
}

std::optional<EncodedBlock> settle_infinity(const Profile& profile) {
  switch (profile.inf) {
    case InfPolicy::scale_nan: return nan_block(profile);
    case InfPolicy::error: return rejected_block();
    case InfPolicy::saturate: break;
  }
  return std::nullopt;
}

bool zero_keeps_sign(const Profile& profile, const Input& input, const Rational& y) {
  if (input.kind == Kind::infinity) return profile.zero_sign != ZeroSign::dropped;
  switch (profile.zero_sign) {
    case ZeroSign::kept: return true;
    case ZeroSign::dropped: return false;
    case ZeroSign::zero_input_dropped: return !input.magnitude.is_zero();
    case ZeroSign::zero_scaled_dropped: return y > Rational::power_of_two(-150);
  }
  return true;
}

std::size_t cell_length(int length, int parts) { return static_cast<std::size_t>(length < parts ? 1 : length / parts); }

int cell_count(const BlockShape& shape, int parts) { return shape.is_2d() ? parts * parts : parts; }

}  // namespace

BlockInput read_block(const Profile& profile, std::span<const std::uint32_t> words,
                      std::span<const std::uint32_t> random_words) {
  BlockInput block;
  for (std::size_t i = 0; i < words.size(); ++i) {
    Input input = read_element(profile, words[i]);
    if (i < random_words.size()) input.random = random_bits_of_word(random_words[i], profile.random_bits);
    block.has_nan |= input.kind == Kind::nan;
    block.has_infinity |= input.kind == Kind::infinity;
    if (input.kind == Kind::finite && input.magnitude > block.amax) block.amax = input.magnitude;
    block.elements.push_back(std::move(input));
  }
  return block;
}

std::uint8_t nan_scale_code(Family family) {
  switch (family) {
    case Family::mx: return e8m0_nan;
    case Family::hif4: return e6m2_nan;
    case Family::nvfp4: return e4m3_scale_nan;
  }
  return e8m0_nan;
}

std::optional<EncodedBlock> settle_non_finite(const Profile& profile, const BlockInput& block) {
  if (block.has_nan)
    if (std::optional<EncodedBlock> settled = settle_nan(profile, block)) return settled;
  if (block.has_infinity) return settle_infinity(profile);
  return std::nullopt;
}

bool saturates(const BlockInput& block) { return block.has_infinity; }

EncodedBlock zero_block(const Profile& profile) {
  EncodedBlock block;
  block.codes.assign(static_cast<std::size_t>(profile.block.size()), 0);
  if (profile.family != Family::hif4) return block;
  block.level2.assign(static_cast<std::size_t>(cell_count(profile.block, hif4_level2_count)), 0);
  block.level3.assign(static_cast<std::size_t>(cell_count(profile.block, hif4_level3_count)), 0);
  return block;
}

std::uint8_t encode_element(const Profile& profile, const Input& input, const Rational& y, const Rational& scale) {
  if (input.kind == Kind::nan) return 0;
  if (input.kind == Kind::infinity) return largest_code(profile, input.negative);
  const std::uint8_t magnitude = round_scaled(profile, {y, input.magnitude, scale}, input.random);
  return magnitude == 0 ? zero_code(profile, input, y) : signed_code(profile, magnitude, input.negative);
}

std::uint8_t zero_code(const Profile& profile, const Input& input, const Rational& y) {
  if (input.kind == Kind::nan) return 0;
  return signed_code(profile, 0, input.negative && zero_keeps_sign(profile, input, y));
}

std::uint32_t decode_element(Element element, std::uint8_t code, const Rational& scale) {
  const std::uint32_t sign = code_is_negative(element, code) ? float_sign : 0;
  switch (kind_of_code(element, code)) {
    case CodeKind::nan: return float_nan;
    case CodeKind::infinity: return sign | float_infinity;
    case CodeKind::finite: break;
  }
  return sign | round_to_float((value_of_code(element, code) * scale).abs());
}

std::size_t hif4_cell(const BlockShape& shape, int parts, std::size_t index) {
  const std::size_t row = index / shape.cols;
  const std::size_t col = index % shape.cols;
  return row / cell_length(shape.rows, parts) * static_cast<std::size_t>(parts) + col / cell_length(shape.cols, parts);
}

std::optional<Rational> scale_of_element(const Profile& profile, const EncodedBlock& block, std::size_t index,
                                         const Rational& tensor_scale) {
  if (block.scale == nan_scale_code(profile.family)) return std::nullopt;
  switch (profile.family) {
    case Family::mx: return e8m0_value(block.scale);
    case Family::nvfp4: return e4m3_value(block.scale) * tensor_scale;
    case Family::hif4: break;
  }
  const int level2 = block.level2[hif4_cell(profile.block, hif4_level2_count, index)];
  const int level3 = block.level3[hif4_cell(profile.block, hif4_level3_count, index)];
  return e6m2_value(block.scale).scaled(level2 + level3);
}

}  // namespace fp4proof::exact
