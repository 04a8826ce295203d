#include "reference/exact/gemm_operand.h"

#include <algorithm>

#include "reference/exact/block_parts.h"
#include "reference/exact/float_word.h"
#include "reference/exact/scale.h"

namespace fp4proof::exact {
namespace {

Extended scale_value(const Profile& profile, std::uint8_t code) {
  if (code == nan_scale_code(profile.family)) return Extended::nan();
  switch (profile.family) {
    case Family::mx: return e8m0_value(code);
    case Family::hif4: return e6m2_value(code).scaled(-2);
    case Family::nvfp4: return e4m3_value(code);
  }
  return Extended::nan();
}

/// The power of two between an element's value and the integer-like value of DecodedBlock.
int value_shift(const Profile& profile, const EncodedBlock& block, std::size_t index) {
  if (profile.family != Family::hif4) return 0;
  constexpr int quarters = 2;
  const BlockShape row = {1, profile.block.cols};
  return quarters + block.level2[hif4_cell(row, hif4_level2_count, index)] +
         block.level3[hif4_cell(row, hif4_level3_count, index)];
}

Extended element_value(Element element, std::uint8_t code, int shift) {
  switch (kind_of_code(element, code)) {
    case CodeKind::nan: return Extended::nan();
    case CodeKind::infinity: return Extended::infinity(code_is_negative(element, code));
    case CodeKind::finite: break;
  }
  return value_of_code(element, code).scaled(shift);
}

/// One block of a row-major matrix, row by row.
std::vector<std::uint32_t> cut_block(std::span<const std::uint32_t> matrix, std::size_t cols, std::size_t first_row,
                                     std::size_t first_col, const BlockShape& shape) {
  std::vector<std::uint32_t> block;
  if (matrix.empty()) return block;
  for (std::size_t r = 0; r < shape.rows; ++r)
    for (std::size_t c = 0; c < shape.cols; ++c) block.push_back(matrix[(first_row + r) * cols + first_col + c]);
  return block;
}

}  // namespace

int DecodedBlock::native_min_exponent() const { return 1 - element_spec(element).bias; }

int DecodedBlock::hopper_min_exponent(const TensorCore& core) const {
  constexpr int fp16_lowest = -14;
  constexpr int e5m2_lowest = -14;
  constexpr int e4m3_lowest = -6;
  if (core.fp16_operands) return fp16_lowest;
  return element == Element::e5m2 ? e5m2_lowest : e4m3_lowest;
}

DecodedBlock decode_operand_block(const Profile& profile, const EncodedBlock& block) {
  DecodedBlock decoded;
  decoded.family = profile.family;
  decoded.element = profile.element;
  decoded.scale = scale_value(profile, block.scale);
  for (std::size_t i = 0; i < block.codes.size(); ++i)
    decoded.values.push_back(element_value(profile.element, block.codes[i], value_shift(profile, block, i)));
  return decoded;
}

std::vector<DecodedRow> decode_operand(const Operand& operand) {
  std::vector<DecodedRow> rows;
  for (const auto& blocks : operand.rows) {
    DecodedRow& row = rows.emplace_back();
    for (const EncodedBlock& block : blocks) row.push_back(decode_operand_block(operand.profile, block));
  }
  return rows;
}

Extended block_dot(const DecodedBlock& a, const DecodedBlock& b) {
  if (a.scale.is_nan() || b.scale.is_nan()) return Extended::nan();
  Extended sum;
  for (std::size_t i = 0; i < a.values.size(); ++i) sum = sum + a.values[i] * b.values[i];
  return sum.is_finite() ? sum * a.scale * b.scale : sum;
}

Result<Operand> quantize_operand(const Profile& profile, std::span<const std::uint32_t> words, std::size_t rows,
                                 std::size_t cols, std::span<const std::uint32_t> random_words) {
  const BlockShape& shape = profile.block;
  if (rows % shape.rows != 0 || cols % shape.cols != 0 || words.size() != rows * cols)
    return Error{ErrorKind::usage, "quantize_operand: the matrix is not a whole number of blocks"};
  Operand operand{profile, std::vector<std::vector<EncodedBlock>>(rows), tensor_scale_word(profile, words)};
  for (std::size_t r = 0; r < rows; r += shape.rows) {
    for (std::size_t c = 0; c < cols; c += shape.cols) {
      const EncodedBlock block = encode_block(profile, cut_block(words, cols, r, c, shape),
                                              cut_block(random_words, cols, r, c, shape), operand.tensor_scale);
      if (block.rejected) return Error{ErrorKind::data, "quantize_operand: the profile refuses NaN or infinity"};
      for (int i = 0; i < shape.rows; ++i)
        operand.rows[r + static_cast<std::size_t>(i)].push_back(block_row(profile, block, i));
    }
  }
  return operand;
}

}  // namespace fp4proof::exact
