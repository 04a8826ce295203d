// One E4M3 scale a block, and optionally one binary32 scale a tensor.

#include "reference/exact/block_parts.h"
#include "reference/exact/float_word.h"
#include "reference/exact/scale.h"

namespace fp4proof::exact {
namespace {

std::uint8_t scale_code(const Profile& profile, const BlockInput& input, const Rational& tensor_scale) {
  if (saturates(input)) return e4m3_scale_max;
  return encode_e4m3_scale(input.amax / (largest(profile.element) * tensor_scale));
}

}  // namespace

EncodedBlock encode_nvfp4(const Profile& profile, const BlockInput& input, const Rational& tensor_scale) {
  EncodedBlock block = zero_block(profile);
  block.scale = scale_code(profile, input, tensor_scale);
  const Rational scale = e4m3_value(block.scale) * tensor_scale;
  for (std::size_t i = 0; i < input.elements.size(); ++i) {
    const Input& element = input.elements[i];
    block.codes[i] = scale.is_zero() ? zero_code(profile, element, element.magnitude)
                                     : encode_element(profile, element, element.magnitude / scale, scale);
  }
  return block;
}

std::uint32_t tensor_scale_word(const Profile& profile, std::span<const std::uint32_t> words) {
  if (profile.family != Family::nvfp4 || !profile.tensor_scale) return float_one;
  const Rational amax = read_block(profile, words, {}).amax;
  const std::uint32_t word = round_to_float(amax / (largest(profile.element) * largest(Element::e4m3)));
  return word == 0 ? float_one : word;
}

}  // namespace fp4proof::exact
