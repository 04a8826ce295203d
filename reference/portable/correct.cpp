#include "reference/portable/correct.h"

#include <algorithm>
#include <string>

#include "formats/strict_math.h"
#include "reference/portable/correct_segment.h"
#include "reference/portable/corrected_parts.h"
#include "reference/portable/dequantize.h"
#include "reference/portable/hadamard.h"
#include "reference/portable/macro_block.h"
#include "reference/portable/residual_mask.h"

namespace fp4proof::portable {

namespace {

std::vector<float> load_rows(const TensorView& tensor, const Geometry& g) {
  constexpr std::int64_t longest_piece = 1 << 20;
  std::vector<float> rows(static_cast<std::size_t>(g.rows * g.columns));
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < g.rows; ++row) {
    for (std::int64_t column = 0; column < g.columns; column += longest_piece) {
      const auto count = static_cast<int>(std::min(longest_piece, g.columns - column));
      std::vector<std::uint32_t> words(static_cast<std::size_t>(count));
      load_words(tensor, g.first_element(row) + column * g.inner, g.inner, count, words.data());
      std::transform(words.begin(), words.end(), rows.begin() + (row * g.columns + column), float_from_bits);
    }
  }
  return rows;
}

/// Applies a transform of binary32 words to every row.
template <class Transform>
void transform_rows(const Geometry& g, std::vector<float>& rows, Transform transform) {
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < g.rows; ++row) {
    float* values = rows.data() + row * g.columns;
    std::vector<std::uint32_t> words(static_cast<std::size_t>(g.columns));
    std::transform(values, values + g.columns, words.begin(), float_bits);
    transform(words.data());
    std::transform(words.begin(), words.end(), values, float_from_bits);
  }
}

/// Codes rows by the inner quantizer (C1). They go through quantize() in the order of the input tensor, which addresses
/// the random words (C3).
Result<CodedPart> code_part(const Corrected& corrected, const TensorView& tensor, const Geometry& g,
                            const QuantizeOptions& options, std::vector<float> rows) {
  const MacroSpec& macro = corrected.stack.macro;
  CodedPart part;
  if (macro.is_on()) {
    part.macro = macro_bytes(corrected.profile, macro, g, rows);
    scale_macro_blocks(macro, g, part.macro, rows);
  }
  if (g.inner != 1) rows = restore_axis(g, rows);
  auto quantized =
      quantize(corrected.profile, {DType::f32, tensor.shape, reinterpret_cast<const std::byte*>(rows.data())}, options);
  if (!quantized) return quantized.error();
  part.quantized = *std::move(quantized);
  return part;
}

}  // namespace

std::vector<float> inner_input(const CorrectionStack& stack, std::uint32_t product, const TensorView& tensor,
                               const Geometry& geometry) {
  std::vector<float> rows = load_rows(tensor, geometry);
  if (stack.hadamard.is_on()) {
    const HadamardTransform transform(stack.hadamard, product, geometry.columns);
    transform_rows(geometry, rows, [&](std::uint32_t* row) { transform.forward(0, geometry.columns, row); });
  }
  return rows;
}

std::vector<float> decode_part(const Corrected& corrected, const CodedPart& part) {
  std::vector<float> rows = dequantize(corrected.profile, part.quantized);
  if (corrected.stack.three_quarters) {
    for (float& value : rows) value = strict::divide(value, 0.75F);
  }
  if (corrected.stack.macro.is_on()) {
    unscale_macro_blocks(corrected.stack.macro, part.quantized.geometry, part.macro, rows);
  }
  return rows;
}

std::vector<float> difference(std::span<const float> input, std::span<const float> decoded) {
  std::vector<float> result(input.size());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = strict::canonicalise_nan(input[i] - decoded[i]);
  return result;
}

Result<void> correct_by_steps(const TensorView& tensor, const Geometry& geometry, const QuantizeOptions& options,
                              Corrected& result) {
  const std::vector<float> input = inner_input(result.stack, result.product, tensor, geometry);
  auto first = code_part(result, tensor, geometry, options, input);
  if (!first) return first.error();
  result.first = *std::move(first);
  if (!result.stack.residual.is_on()) return {};
  std::vector<float> residual = difference(input, decode_part(result, result.first));
  const std::vector<std::uint8_t> mask = residual_mask(result.stack.residual, geometry, input, residual);
  auto second = code_part(result, tensor, geometry, options, std::move(residual));
  if (!second) return second.error();
  apply_mask(result.profile, geometry, mask, second->quantized.codes);
  result.residual = *std::move(second);
  return {};
}

Result<Corrected> correct(const Profile& profile, const CorrectionStack& stack, const TensorView& tensor,
                          const CorrectOptions& options) {
  if (const auto checked = check_stack(profile, stack); !checked) return checked.error();
  Corrected result{stack.effective(profile), stack, options.product, {}, std::nullopt};
  QuantizeOptions inner_options = options.quantize;
  inner_options.three_quarters = stack.three_quarters;
  if (!stack.hadamard.is_on() && !stack.macro.is_on() && !stack.residual.is_on()) {
    auto quantized = quantize(result.profile, tensor, inner_options);
    if (!quantized) return quantized.error();
    result.first.quantized = *std::move(quantized);
    return result;
  }
  const auto cut = cut_into_blocks(result.profile, tensor.shape, inner_options.axis, inner_options.tail);
  if (!cut) return cut.error();
  if (stack.hadamard.is_on() && cut->columns % stack.hadamard.size != 0) {
    return Error{ErrorKind::usage, "stack " + std::string(stack.name) + ": the block axis of length " +
                                       std::to_string(cut->columns) + " is no multiple of the Hadamard size " +
                                       std::to_string(stack.hadamard.size) +
                                       "; choose another axis, a smaller transform, or a longer tensor"};
  }
  if (goes_by_segments(result.profile, stack, *cut)) {
    correct_by_segments(tensor, *cut, result);
    return result;
  }
  if (const auto done = correct_by_steps(tensor, *cut, inner_options, result); !done) return done.error();
  return result;
}

std::vector<float> dequantize(const Corrected& corrected) {
  std::vector<float> rows = decode_part(corrected, corrected.first);
  if (corrected.residual) {
    const std::vector<float> second = decode_part(corrected, *corrected.residual);
    const float alpha = corrected.stack.residual.alpha;
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = strict::canonicalise_nan(rows[i] + alpha * second[i]);
  }
  if (corrected.stack.hadamard.is_on()) {
    const Geometry& g = corrected.geometry();
    const HadamardTransform transform(corrected.stack.hadamard, corrected.product, g.columns);
    transform_rows(g, rows, [&](std::uint32_t* row) { transform.inverse(0, g.columns, row); });
  }
  return rows;
}

}  // namespace fp4proof::portable
