#include "reference/exact/block.h"

#include "reference/exact/block_parts.h"
#include "reference/exact/float_word.h"

namespace fp4proof::exact {
namespace {

std::vector<std::uint8_t> slice(const std::vector<std::uint8_t>& all, std::size_t first, std::size_t count) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

/// Eight bits as one byte, bit 0 first at the low or at the high end.
std::uint8_t byte_of_bits(std::span<const std::uint8_t> bits, MicroOrder order) {
  unsigned byte = 0;
  for (unsigned i = 0; i < 8; ++i)
    byte |= static_cast<unsigned>(bits[i]) << (order == MicroOrder::lsb_first ? i : 7 - i);
  return static_cast<std::uint8_t>(byte);
}

}  // namespace

EncodedBlock encode_block(const Profile& profile, std::span<const std::uint32_t> words,
                          std::span<const std::uint32_t> random_words, std::uint32_t tensor_scale) {
  const BlockInput input = read_block(profile, words, random_words);
  if (std::optional<EncodedBlock> settled = settle_non_finite(profile, input)) return *std::move(settled);
  switch (profile.family) {
    case Family::mx: return encode_mx(profile, input);
    case Family::hif4: return encode_hif4(profile, input);
    case Family::nvfp4: return encode_nvfp4(profile, input, float_value(tensor_scale));
  }
  return {};
}

std::vector<std::uint32_t> decode_block(const Profile& profile, const EncodedBlock& block, std::uint32_t tensor_scale) {
  std::vector<std::uint32_t> words;
  const Rational tensor = float_value(tensor_scale);
  for (std::size_t i = 0; i < block.codes.size(); ++i) {
    const std::optional<Rational> scale = scale_of_element(profile, block, i, tensor);
    words.push_back(scale ? decode_element(profile.element, block.codes[i], *scale) : float_nan);
  }
  return words;
}

EncodedBlock block_row(const Profile& profile, const EncodedBlock& block, int row) {
  EncodedBlock one = block;
  const std::size_t first = static_cast<std::size_t>(row) * profile.block.cols;
  one.codes = slice(block.codes, first, profile.block.cols);
  if (profile.family != Family::hif4) return one;
  one.level2 = slice(block.level2, hif4_cell(profile.block, hif4_level2_count, first), hif4_level2_count);
  one.level3 = slice(block.level3, hif4_cell(profile.block, hif4_level3_count, first), hif4_level3_count);
  return one;
}

std::vector<std::uint8_t> hif4_scale_bytes(const Profile& profile, const EncodedBlock& block, int row) {
  const EncodedBlock one = block_row(profile, block, row);
  const std::span<const std::uint8_t> level3(one.level3);
  return {one.scale, byte_of_bits(one.level2, profile.micro_order),
          byte_of_bits(level3.subspan(0, 8), profile.micro_order),
          byte_of_bits(level3.subspan(8, 8), profile.micro_order)};
}

}  // namespace fp4proof::exact
