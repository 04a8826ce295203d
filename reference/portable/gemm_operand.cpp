#include "reference/portable/gemm_operand.h"

#include <algorithm>
#include <cstring>

#include "formats/element.h"
#include "formats/hif4.h"
#include "formats/scale_codes.h"

namespace fp4proof::portable {

OperandReader::OperandReader(const Profile& profile, const Quantized& quantized)
    : profile_(profile), quantized_(quantized), codes_per_byte_(element_spec(profile.element).is_nibble() ? 2 : 1) {
  for (int byte = 0; byte < 256; ++byte) {
    const int low = codes_per_byte_ == 2 ? byte & 15 : byte;
    values_[static_cast<std::size_t>(byte)] = {decode_element(profile.element, static_cast<std::uint8_t>(low)),
                                               decode_element(profile.element, static_cast<std::uint8_t>(byte >> 4))};
  }
}

void OperandReader::read_block(std::int64_t row, std::int64_t block, double* values) const {
  const Geometry& g = quantized_.geometry;
  const int count = length();
  const std::uint8_t* bytes = quantized_.codes.data() + row * g.code_bytes_per_row + block * (count / codes_per_byte_);
  if (codes_per_byte_ == 2) {
    for (int j = 0; j < count / 2; ++j) std::memcpy(values + 2 * j, &values_[bytes[j]], 2 * sizeof(double));
  } else {
    for (int i = 0; i < count; ++i) values[i] = values_[bytes[i]][0];
  }
  const auto left = static_cast<int>(std::clamp<std::int64_t>(g.columns - block * count, 0, count));
  std::fill(values + left, values + count, 0.0);
  if (profile_.family == Family::hif4) {
    const std::uint32_t word = scale_word(row, block);
    for (int i = 0; i < count; ++i) values[i] *= 1 << (hif4_level2(word, i) + hif4_level3(word, i));
  }
}

double OperandReader::scale(std::int64_t row, std::int64_t block) const {
  const auto code = static_cast<std::uint8_t>(scale_word(row, block));
  switch (profile_.family) {
    case Family::mx: return decode_e8m0(code);
    case Family::hif4: return decode_e6m2(code);
    case Family::nvfp4: return decode_e4m3_scale(code);
  }
  return canonical_nan();
}

std::uint32_t OperandReader::scale_word(std::int64_t row, std::int64_t block) const {
  const int bytes = scale_bytes(profile_.family);
  const std::uint8_t* from = quantized_.scales.data() + row * quantized_.geometry.scale_bytes_per_row + block * bytes;
  std::uint32_t word = 0;
  for (int k = 0; k < bytes; ++k) word |= std::uint32_t{from[k]} << (8 * k);
  return word;
}

}  // namespace fp4proof::portable
