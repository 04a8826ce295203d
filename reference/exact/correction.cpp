#include "reference/exact/correction.h"

#include <bit>
#include <span>

#include "reference/exact/correction_arithmetic.h"
#include "reference/exact/extended.h"
#include "reference/exact/hadamard.h"
#include "reference/exact/inner_quantizer.h"
#include "reference/exact/residual_mask.h"

namespace fp4proof::exact {
namespace {

using Words = std::vector<std::uint32_t>;

void clear_outside(const std::vector<std::uint8_t>& mask, std::size_t cols, Operand& operand) {
  for (std::size_t row = 0; row < operand.rows.size(); ++row) {
    for (std::size_t col = 0; col < cols; ++col) {
      if (mask[row * cols + col] != 0) continue;
      const std::size_t length = operand.profile.block.cols;
      operand.rows[row][col / length].codes[col % length] = 0;
    }
  }
}

/// The residual of `x`, the input of the inner quantizer, coded and masked.
Result<void> add_residual(CorrectedMatrix& matrix, std::span<const std::uint32_t> x) {
  const Words x1 = decode_part(matrix.profile, matrix.stack, matrix.shape, matrix.first);
  for (std::size_t i = 0; i < x.size(); ++i) matrix.residual_words.push_back(subtract_floats(x[i], x1[i]));
  Result<CodedPart> part = code_part(matrix.profile, matrix.stack, {matrix.shape, matrix.residual_words, {}});
  if (!part) return part.error();
  const std::vector<std::uint8_t> mask =
      residual_mask(matrix.stack.residual, x, matrix.residual_words, matrix.shape.rows, matrix.shape.cols);
  clear_outside(mask, matrix.shape.cols, part->operand);
  matrix.residual = *std::move(part);
  return {};
}

}  // namespace

Result<CorrectedMatrix> correct(const Profile& profile, const CorrectionStack& stack, const CorrectionInput& input,
                                std::uint32_t product) {
  if (Result<void> checked = check_stack(profile, stack); !checked) return checked.error();
  CorrectionInput inner = input;
  Words transformed;
  if (stack.hadamard.is_on()) {
    if (input.shape.cols % stack.hadamard.size != 0)
      return Error{ErrorKind::usage, "correct: the columns are no multiple of the Hadamard transform"};
    transformed = hadamard_transform(stack.hadamard, product, input.words, input.shape.cols);
    inner.words = transformed;
  }
  CorrectedMatrix matrix{stack.effective(profile), stack, product, input.shape, {}, {}, {}};
  Result<CodedPart> first = code_part(matrix.profile, stack, inner);
  if (!first) return first.error();
  matrix.first = *std::move(first);
  if (stack.residual.is_on())
    if (Result<void> added = add_residual(matrix, inner.words); !added) return added.error();
  return matrix;
}

Words decode(const CorrectedMatrix& matrix) {
  Words values = decode_part(matrix.profile, matrix.stack, matrix.shape, matrix.first);
  if (matrix.residual) {
    const Words x2 = decode_part(matrix.profile, matrix.stack, matrix.shape, *matrix.residual);
    const auto alpha = std::bit_cast<std::uint32_t>(matrix.stack.residual.alpha);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = add_floats(values[i], multiply_floats(alpha, x2[i]));
  }
  if (!matrix.stack.hadamard.is_on()) return values;
  return hadamard_inverse(matrix.stack.hadamard, matrix.product, values, matrix.shape.cols);
}

PackedResidual pack_residual(const CorrectedMatrix& matrix) {
  PackedResidual packed;
  if (!matrix.residual) return packed;
  for (std::size_t row = 0; row < matrix.shape.rows; ++row) {
    std::vector<std::uint8_t> codes;
    for (const EncodedBlock& block : matrix.residual->operand.rows[row])
      codes.insert(codes.end(), block.codes.begin(), block.codes.end());
    const std::span r = std::span(matrix.residual_words).subspan(row * matrix.shape.cols, matrix.shape.cols);
    const std::vector<KeptPair> pairs = kept_pairs(r, codes.size());
    for (std::size_t group = 0; group < pairs.size(); ++group) {
      const KeptPair& pair = pairs[group];
      const unsigned place = pair.first + 4U * pair.second;
      packed.codes.push_back(
          static_cast<std::uint8_t>(codes[4 * group + pair.first] + 16U * codes[4 * group + pair.second]));
      if (group % 2 == 0)
        packed.places.push_back(static_cast<std::uint8_t>(place));
      else
        packed.places.back() = static_cast<std::uint8_t>(packed.places.back() + 16U * place);
    }
  }
  return packed;
}

}  // namespace fp4proof::exact
