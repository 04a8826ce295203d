// One E8M0 scale a block.

#include "reference/exact/block_parts.h"
#include "reference/exact/scale.h"

namespace fp4proof::exact {
namespace {

std::uint8_t scale_code(const Profile& profile, const BlockInput& input) {
  if (saturates(input)) return profile.inf_scale_code;
  if (input.amax.is_zero()) return profile.zero_scale_code;
  return select_e8m0(profile, input.amax);
}

std::uint8_t element_code(const Profile& profile, const Input& input, const Rational& scale, bool flushed) {
  const Rational y = input.magnitude / scale;
  if (flushed) return zero_code(profile, input, y);
  return encode_element(profile, input, y, scale);
}

}  // namespace

EncodedBlock encode_mx(const Profile& profile, const BlockInput& input) {
  EncodedBlock block = zero_block(profile);
  block.scale = scale_code(profile, input);
  if (block.scale == e8m0_nan) return block;
  const Rational scale = e8m0_value(block.scale);
  const bool flushed = profile.tiny == TinyPolicy::flush_block && block.scale == 0;
  for (std::size_t i = 0; i < input.elements.size(); ++i)
    block.codes[i] = element_code(profile, input.elements[i], scale, flushed);
  return block;
}

}  // namespace fp4proof::exact
