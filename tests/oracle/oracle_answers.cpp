#include "tests/oracle/oracle_answers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>

namespace fp4proof::oracle_answers {

using suite::CaseGroup;
using suite::CaseTable;
using suite::CaseTensor;
using suite::Operation;

namespace {

constexpr std::uint32_t one = 0x3F800000U;

}  // namespace

Words words_of(const CaseGroup& group, std::string_view tensor, std::size_t index) {
  const CaseTensor* found = group.find(tensor);
  return found == nullptr ? Words{} : copy_elements<std::uint32_t>(found->of_case(index));
}

namespace {

std::size_t up_to_multiple(std::size_t count, std::size_t unit) { return (count + unit - 1) / unit * unit; }

}  // namespace

ByteVector bytes_of_words(const Words& words) {
  const Bytes bytes = bytes_of(words);
  return {bytes.begin(), bytes.end()};
}

BlockMatrix block_matrix(const Profile& profile, const suite::GroupSpec& spec, const Words& input) {
  const auto rows = static_cast<std::size_t>(spec.axis == 0 ? spec.columns : spec.rows);
  const auto columns = static_cast<std::size_t>(spec.axis == 0 ? spec.rows : spec.columns);
  BlockMatrix matrix;
  matrix.rows = rows;
  matrix.padded_rows = up_to_multiple(rows, profile.block.rows);
  matrix.columns = up_to_multiple(columns, profile.block.cols);
  matrix.words.assign(matrix.padded_rows * matrix.columns, 0);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      matrix.words[r * matrix.columns + c] = spec.axis == 0 ? input[c * rows + r] : input[r * columns + c];
    }
  }
  return matrix;
}

Words block_words(const Profile& profile, const BlockMatrix& matrix, std::size_t first_row, std::size_t first_column) {
  Words words;
  for (std::size_t r = 0; r < profile.block.rows; ++r) {
    for (std::size_t c = 0; c < profile.block.cols; ++c) words.push_back(matrix.at(first_row + r, first_column + c));
  }
  return words;
}

namespace {

bool is_nibble(const Profile& profile) { return element_spec(profile.element).bits() == 4; }

}  // namespace

/// Two codes a byte, the even one low; wider codes a byte each.
ByteVector packed(const Profile& profile, const ByteVector& codes) {
  if (!is_nibble(profile)) return codes;
  ByteVector bytes;
  for (std::size_t i = 0; i < codes.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(codes[i] | (codes[i + 1] << 4)));
  }
  return bytes;
}

namespace {

ByteVector unpacked(const Profile& profile, Bytes bytes) {
  if (!is_nibble(profile)) return {bytes.begin(), bytes.end()};
  ByteVector codes;
  for (const std::uint8_t byte : bytes) {
    codes.push_back(byte & 0xF);
    codes.push_back(static_cast<std::uint8_t>(byte >> 4));
  }
  return codes;
}

}  // namespace

/// Canonical scale bytes of one row of a block.
ByteVector scale_bytes_of(const Profile& profile, const exact::EncodedBlock& block, int row) {
  if (profile.family != Family::hif4) return {block.scale};
  Profile canonical = profile;
  canonical.micro_order = MicroOrder::lsb_first;
  return exact::hif4_scale_bytes(canonical, block, row);
}

namespace {

/// What quantize must give, tensor after tensor.
std::vector<ByteVector> quantized_by_oracle(const Profile& profile, const CaseGroup& group, std::size_t index) {
  const Words input = words_of(group, "input", index);
  const Words random = words_of(group, "random", index);
  const std::uint32_t tensor_scale = exact::tensor_scale_word(profile, input);
  const BlockMatrix matrix = block_matrix(profile, group.spec, input);
  const std::size_t block_rows = profile.block.rows;
  const std::size_t block_columns = profile.block.cols;
  ByteVector codes(matrix.padded_rows * matrix.columns);
  std::vector<ByteVector> row_scales(matrix.padded_rows);
  for (std::size_t r = 0; r < matrix.padded_rows; r += block_rows) {
    for (std::size_t c = 0; c < matrix.columns; c += block_columns) {
      const exact::EncodedBlock block =
          exact::encode_block(profile, block_words(profile, matrix, r, c), random, tensor_scale);
      EXPECT_FALSE(block.rejected);
      for (std::size_t i = 0; i < block_rows; ++i) {
        std::copy_n(&block.codes[i * block_columns], block_columns, &codes[(r + i) * matrix.columns + c]);
        const ByteVector bytes = scale_bytes_of(profile, block, static_cast<int>(i));
        row_scales[r + i].insert(row_scales[r + i].end(), bytes.begin(), bytes.end());
      }
    }
  }
  codes.resize(matrix.rows * matrix.columns);
  ByteVector scales;
  for (std::size_t r = 0; r < matrix.rows; ++r) {
    scales.insert(scales.end(), row_scales[r].begin(), row_scales[r].end());
  }
  std::vector<ByteVector> tensors = {packed(profile, codes), scales};
  if (profile.tensor_scale) tensors.push_back(bytes_of_words({tensor_scale}));
  return tensors;
}

/// Rows of blocks from canonical bytes.
std::vector<std::vector<exact::EncodedBlock>> blocks_of(const Profile& profile, Bytes code_bytes, Bytes scale_bytes,
                                                        std::size_t rows) {
  const ByteVector codes = unpacked(profile, code_bytes);
  const std::size_t length = profile.block.cols;
  const std::size_t blocks = codes.size() / rows / length;
  const std::size_t width = profile.family == Family::hif4 ? 4 : 1;
  std::vector<std::vector<exact::EncodedBlock>> result(rows);
  for (std::size_t b = 0; b < rows * blocks; ++b) {
    exact::EncodedBlock block;
    const Bytes scale = scale_bytes.subspan(b * width, width);
    block.scale = scale[0];
    if (width == 4) {
      for (int k = 0; k < 8; ++k) block.level2.push_back(static_cast<std::uint8_t>(scale[1] >> k & 1));
      for (int k = 0; k < 16; ++k) {
        block.level3.push_back(static_cast<std::uint8_t>(scale[static_cast<std::size_t>(2 + k / 8)] >> (k % 8) & 1));
      }
    }
    block.codes.assign(&codes[b * length], &codes[b * length] + length);
    result[b / blocks].push_back(std::move(block));
  }
  return result;
}

std::uint32_t tensor_scale_of(const CaseGroup& group, std::string_view tensor, std::size_t index) {
  const Words words = words_of(group, tensor, index);
  return words.empty() ? one : words.front();
}

/// The profile whose blocks are single rows.
Profile row_profile(Profile profile) {
  profile.block.rows = 1;
  return profile;
}

std::vector<ByteVector> dequantized_by_oracle(const Profile& profile, const CaseGroup& group, std::size_t index) {
  const Profile row = row_profile(profile);
  Words values;
  for (const auto& blocks : blocks_of(row, group.find("codes")->of_case(index), group.find("scales")->of_case(index),
                                      static_cast<std::size_t>(group.spec.rows))) {
    for (const exact::EncodedBlock& block : blocks) {
      const Words words = exact::decode_block(row, block, tensor_scale_of(group, "tensor_scale", index));
      values.insert(values.end(), words.begin(), words.end());
    }
  }
  return {bytes_of_words(values)};
}

}  // namespace

exact::Operand operand_of(const Profile& profile, const CaseGroup& group, std::size_t index, const std::string& prefix,
                          std::int64_t rows) {
  exact::Operand operand;
  operand.profile = row_profile(profile);
  operand.rows = blocks_of(operand.profile, group.find(prefix + "codes")->of_case(index),
                           group.find(prefix + "scales")->of_case(index), static_cast<std::size_t>(rows));
  operand.tensor_scale = tensor_scale_of(group, prefix + "tensor_scale", index);
  return operand;
}

std::optional<exact::Accumulator> accumulator_named(std::string_view name) {
  using enum exact::Accumulator;
  constexpr std::array<std::pair<std::string_view, exact::Accumulator>, 7> names = {
      {{"seq512", seq512},
       {"seq", seq},
       {"exact", exact},
       {"tc:hopper-fp16", tc_hopper_fp16},
       {"tc:hopper-fp8", tc_hopper_fp8},
       {"tc:blackwell-mxf8f6f4", tc_blackwell_mxf8f6f4},
       {"tc:blackwell-mxf4", tc_blackwell_mxf4}}};
  const auto found = std::ranges::find(names, name, [](const auto& row) { return row.first; });
  return found == names.end() ? std::nullopt : std::optional(found->second);
}

namespace {

std::vector<ByteVector> multiplied_by_oracle(const Profile& profile, const CaseGroup& group, std::size_t index) {
  const std::optional<exact::Accumulator> accumulator = accumulator_named(group.spec.accumulator);
  if (!accumulator) {
    ADD_FAILURE() << "unknown accumulator " << group.spec.accumulator;
    return {};
  }
  const Result<Words> c = exact::gemm(operand_of(profile, group, index, "a_", group.spec.rows),
                                      operand_of(profile, group, index, "b_", group.spec.other_rows), *accumulator);
  if (!c) {
    ADD_FAILURE() << c.error().message;
    return {};
  }
  return {bytes_of_words(*c)};
}

}  // namespace

std::vector<ByteVector> answer_of_oracle(const CaseTable& table, const CaseGroup& group, std::size_t index) {
  switch (table.operation) {
    case Operation::quantize: return quantized_by_oracle(*table.profile, group, index);
    case Operation::dequantize: return dequantized_by_oracle(*table.profile, group, index);
    case Operation::gemm: return multiplied_by_oracle(*table.profile, group, index);
    case Operation::correct: return corrected_by_oracle(*table.profile, group, index);
    case Operation::correct_gemm: return corrected_product_by_oracle(*table.profile, group, index);
    case Operation::decompose: return decomposed_by_oracle(*table.profile, group, index);
  }
  return {};
}

}  // namespace fp4proof::oracle_answers
