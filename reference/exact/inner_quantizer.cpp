#include "reference/exact/inner_quantizer.h"

#include "reference/exact/block_parts.h"
#include "reference/exact/correction_arithmetic.h"
#include "reference/exact/extended.h"
#include "reference/exact/float_word.h"
#include "reference/exact/scale.h"

namespace fp4proof::exact {
namespace {

using Words = std::vector<std::uint32_t>;

Rational three_quarters() { return Rational(3).scaled(-2); }

/// The part of a matrix that a block covers, row-major; beyond the rows of the matrix and the columns +0.
Words cut(std::span<const std::uint32_t> words, const MatrixShape& shape, std::size_t first_row, std::size_t first_col,
          const BlockShape& block) {
  Words result;
  if (words.empty()) return result;
  const std::size_t end_row = (first_row / shape.matrix_rows + 1) * shape.matrix_rows;
  for (std::size_t r = first_row; r < first_row + block.rows; ++r)
    for (std::size_t c = first_col; c < first_col + block.cols; ++c)
      result.push_back(r < end_row && c < shape.cols ? words[r * shape.cols + c] : 0);
  return result;
}

/// The scale of x and the codes of RN(0.75 x) under it.
EncodedBlock three_quarters_block(const Profile& profile, const Words& words, const Words& random) {
  EncodedBlock block = encode_block(profile, words, random);
  if (block.rejected || block.scale == e8m0_nan) return block;
  Words smaller;
  for (const std::uint32_t word : words) smaller.push_back(multiply_floats(word, round_to_float(three_quarters())));
  const Rational scale = e8m0_value(block.scale);
  const BlockInput input = read_block(profile, smaller, random);
  for (std::size_t i = 0; i < block.codes.size(); ++i) {
    const Input& element = input.elements[i];
    block.codes[i] = encode_element(profile, element, element.magnitude / scale, scale);
  }
  return block;
}

Words scaled_by_macro_blocks(const CorrectionStack& stack, const MatrixShape& shape,
                             std::span<const std::uint32_t> words, const std::vector<std::uint8_t>& bytes) {
  const std::size_t per_row = macro_blocks(stack.macro, shape.cols);
  Words result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint8_t byte = bytes[i / shape.cols * per_row + i % shape.cols / stack.macro.size];
    result.push_back(macro_scaled(stack.macro.form, byte, words[i]));
  }
  return result;
}

Error refused_block() { return {ErrorKind::data, "correct: the profile refuses NaN or infinity"}; }

/// Codes one band of block.rows rows and appends its rows to the operand.
Result<void> code_band(const CorrectionStack& stack, const CorrectionInput& input, std::size_t first_row,
                       Operand& operand) {
  const Profile& profile = operand.profile;
  const std::size_t end_row = (first_row / input.shape.matrix_rows + 1) * input.shape.matrix_rows;
  for (std::size_t col = 0; col < input.shape.cols; col += profile.block.cols) {
    const Words words = cut(input.words, input.shape, first_row, col, profile.block);
    const Words random = cut(input.random_words, input.shape, first_row, col, profile.block);
    const EncodedBlock block = stack.three_quarters ? three_quarters_block(profile, words, random)
                                                    : encode_block(profile, words, random, operand.tensor_scale);
    if (block.rejected) return refused_block();
    for (int i = 0; i < profile.block.rows && first_row + static_cast<std::size_t>(i) < end_row; ++i)
      operand.rows[first_row + static_cast<std::size_t>(i)].push_back(block_row(profile, block, i));
  }
  return {};
}

std::uint32_t outer_value(const CorrectionStack& stack, std::uint32_t v, const std::uint8_t* macro_byte_of_v) {
  if (stack.three_quarters) return divide_float(v, three_quarters());
  return macro_byte_of_v != nullptr ? macro_unscaled(stack.macro.form, *macro_byte_of_v, v) : v;
}

}  // namespace

Result<CodedPart> code_part(const Profile& profile, const CorrectionStack& stack, const CorrectionInput& input) {
  CodedPart part;
  CorrectionInput inner = input;
  Words scaled;
  if (stack.macro.is_on()) {
    part.macro = macro_bytes(profile, stack.macro, input.shape, input.words);
    scaled = scaled_by_macro_blocks(stack, input.shape, input.words, part.macro);
    inner.words = scaled;
  }
  part.operand = {profile, std::vector<std::vector<EncodedBlock>>(input.shape.rows),
                  tensor_scale_word(profile, inner.words)};
  for (std::size_t matrix = 0; matrix < input.shape.rows; matrix += input.shape.matrix_rows)
    for (std::size_t row = 0; row < input.shape.matrix_rows; row += profile.block.rows)
      if (Result<void> coded = code_band(stack, inner, matrix + row, part.operand); !coded) return coded.error();
  return part;
}

Words decode_part(const Profile& profile, const CorrectionStack& stack, const MatrixShape& shape,
                  const CodedPart& part) {
  Profile row_profile = profile;
  row_profile.block.rows = 1;
  const std::size_t per_row = macro_blocks(stack.macro, shape.cols);
  Words values;
  for (std::size_t row = 0; row < shape.rows; ++row) {
    Words decoded;
    for (const EncodedBlock& block : part.operand.rows[row])
      for (const std::uint32_t v : decode_block(row_profile, block, part.operand.tensor_scale)) decoded.push_back(v);
    for (std::size_t col = 0; col < shape.cols; ++col) {
      const std::uint8_t* byte = stack.macro.is_on() ? &part.macro[row * per_row + col / stack.macro.size] : nullptr;
      values.push_back(outer_value(stack, decoded[col], byte));
    }
  }
  return values;
}

}  // namespace fp4proof::exact
