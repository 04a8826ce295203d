#include "reference/portable/training/products.h"

#include <algorithm>
#include <array>
#include <vector>

#include "formats/float_bits.h"
#include "formats/strict_math.h"
#include "reference/portable/correct.h"
#include "reference/portable/gemm.h"
#include "reference/portable/random_words.h"
#include "reference/portable/training/threads.h"
#include "reference/portable/vectorize.h"

namespace fp4proof::portable::training {

namespace {

template <class T>
std::span<T> span_of(T* data, std::int64_t count) {
  return {data, static_cast<std::size_t>(count)};
}

bool has_tensor_scale(const Profile& profile) { return profile.family == Family::nvfp4 && profile.tensor_scale; }

void copy_out(const Profile& profile, const CodedPart& part, const PartBytes& to) {
  std::copy(part.quantized.codes.begin(), part.quantized.codes.end(), to.codes);
  std::copy(part.quantized.scales.begin(), part.quantized.scales.end(), to.scales);
  std::copy(part.macro.begin(), part.macro.end(), to.macro);
  if (has_tensor_scale(profile)) *to.tensor_scale = part.quantized.tensor_scale;
}

CodedPart copy_in(const OperandBytes& operand, const Profile& profile, const PartBytes& from,
                  const Geometry& geometry) {
  const auto copied = [](const std::uint8_t* bytes, std::int64_t count) {
    return std::vector<std::uint8_t>(bytes, bytes + count);
  };
  CodedPart part;
  part.quantized.geometry = geometry;
  part.quantized.codes = copied(from.codes, geometry.code_bytes());
  part.quantized.scales = copied(from.scales, geometry.scale_bytes());
  if (has_tensor_scale(profile)) part.quantized.tensor_scale = *from.tensor_scale;
  part.macro = copied(from.macro, geometry.rows * macro_blocks_per_row(operand.stack.macro, geometry.columns));
  return part;
}

Result<Corrected> corrected_of(const OperandBytes& operand, std::int64_t k) {
  Corrected corrected{operand.stack.effective(operand.profile), operand.stack, 0, {}, std::nullopt};
  const std::array<std::int64_t, 2> shape = {operand.lines, k};
  const auto geometry = geometry_of_quantized(corrected.profile, shape, 1);
  if (!geometry) return geometry.error();
  corrected.first = copy_in(operand, corrected.profile, operand.first, *geometry);
  if (operand.stack.residual.is_on())
    corrected.residual = copy_in(operand, corrected.profile, operand.residual, *geometry);
  return corrected;
}

/// Whether there is one part and nothing but the quantizer makes it.
bool is_plain(const CorrectionStack& stack) {
  return !stack.hadamard.is_on() && !stack.macro.is_on() && !stack.residual.is_on();
}

/// Straight into the bytes of the caller.
Result<void> quantize_plain(const QuantizeTask& task, const TensorView& tensor, QuantizeOptions options,
                            const PartBytes& to) {
  if (const auto checked = check_stack(task.profile, task.stack); !checked) return checked;
  const Profile profile = task.stack.effective(task.profile);
  options.three_quarters = task.stack.three_quarters;
  const auto geometry = cut_into_blocks(profile, tensor.shape, options.axis, options.tail);
  if (!geometry) return geometry.error();
  const float tensor_scale = tensor_scale_of(profile, tensor);
  if (has_tensor_scale(profile)) *to.tensor_scale = tensor_scale;
  return quantize_rows(profile, tensor, *geometry, options, tensor_scale, 0, geometry->rows,
                       span_of(to.codes, geometry->code_bytes()), span_of(to.scales, geometry->scale_bytes()));
}

Result<void> quantize_matrix(const QuantizeTask& task, const QuantizeOptions& options, const PartBytes& first,
                             const PartBytes& residual, float* values) {
  const std::array<std::int64_t, 2> shape = {task.rows, task.columns};
  const TensorView tensor{DType::f32, shape, reinterpret_cast<const std::byte*>(task.x)};
  if (values == nullptr && is_plain(task.stack)) return quantize_plain(task, tensor, options, first);
  const auto corrected = correct(task.profile, task.stack, tensor, {options, task.product});
  if (!corrected) return corrected.error();
  copy_out(corrected->profile, corrected->first, first);
  if (corrected->residual) copy_out(corrected->profile, *corrected->residual, residual);
  if (values != nullptr) std::ranges::copy(dequantize(*corrected), values);
  return {};
}

/// Lines that run down the columns, made rows: all but the plainest quantization is far quicker along memory.
template <class T>
std::vector<T> transposed(std::int64_t rows, std::int64_t columns, const T* x) {
  constexpr std::int64_t side = 32;  // squares that stay in cache
  std::vector<T> y(static_cast<std::size_t>(rows * columns));
  in_ranges(columns, rows, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = 0; row < rows; row += side) {
      const std::int64_t end = std::min(row + side, rows);
      for (std::int64_t column = first; column < last; ++column) {
        for (std::int64_t r = row; r < end; ++r)
          y[static_cast<std::size_t>(column * rows + r)] = x[r * columns + column];
      }
    }
  });
  return y;
}

std::vector<std::uint32_t> random_words(const RandomAddress& random, std::int64_t count) {
  std::vector<std::uint32_t> words(static_cast<std::size_t>(count));
  in_ranges(count, 1, [&](std::int64_t first, std::int64_t last) {
    constexpr std::int64_t piece = 1 << 16;
    for (std::int64_t i = first; i < last; i += piece) {
      draw_random_words(random.seed, random.stream, random.step, random.first + static_cast<std::uint64_t>(i),
                        static_cast<int>(std::min(piece, last - i)), words.data() + i);
    }
  });
  return words;
}

FP4PROOF_CLONES void round_row(const float* x, std::int64_t count, std::uint16_t* y) {
  FP4PROOF_VECTORIZE_LOOP
  for (std::int64_t i = 0; i < count; ++i) y[i] = float_to_bf16(strict::canonicalise_nan(x[i]));
}

/// Columns [first, last) of x become rows of y, in squares that stay in cache.
void round_columns(std::int64_t rows, std::int64_t columns, std::int64_t first, std::int64_t last, const float* x,
                   std::uint16_t* y) {
  constexpr std::int64_t side = 32;
  std::array<std::uint16_t, side> line;
  for (std::int64_t row = 0; row < rows; row += side) {
    const std::int64_t height = std::min(side, rows - row);
    for (std::int64_t column = first; column < last; column += side) {
      const std::int64_t width = std::min(side, last - column);
      for (std::int64_t r = 0; r < height; ++r) {
        round_row(x + (row + r) * columns + column, width, line.data());
        for (std::int64_t c = 0; c < width; ++c) y[(column + c) * rows + row + r] = line[static_cast<std::size_t>(c)];
      }
    }
  }
}

}  // namespace

Result<void> quantize(const QuantizeTask& task, const PartBytes& first, const PartBytes& residual, float* values) {
  QuantizeOptions options;
  options.axis = task.axis;
  options.tail = Tail::pad;
  options.seed = task.random.seed;
  options.stream = task.random.stream;
  options.step = task.random.step;
  options.first_element = task.random.first;
  const bool draws = task.stack.effective(task.profile).rounding == Rounding::stochastic;
  if (task.axis == 1 || (is_plain(task.stack) && !draws))
    return quantize_matrix(task, options, first, residual, values);
  const std::vector<float> x = transposed(task.rows, task.columns, task.x);
  const std::vector<std::uint32_t> words =
      draws ? transposed(task.rows, task.columns, random_words(task.random, task.rows * task.columns).data())
            : std::vector<std::uint32_t>();
  QuantizeTask turned = task;
  turned.rows = task.columns;
  turned.columns = task.rows;
  turned.x = x.data();
  options.axis = 1;
  options.random_words = words;
  return quantize_matrix(turned, options, first, residual, values);
}

Result<void> multiply(const OperandBytes& a, const OperandBytes& b, std::int64_t k, float* c) {
  const auto left = corrected_of(a, k);
  if (!left) return left.error();
  const auto right = corrected_of(b, k);
  if (!right) return right.error();
  const auto product = gemm(*left, *right, Accumulator::seq512);
  if (!product) return product.error();
  std::ranges::copy(*product, c);
  return {};
}

void to_bf16(std::int64_t rows, std::int64_t columns, bool transpose, const float* x, std::uint16_t* y) {
  if (!transpose) {
    in_ranges(rows * columns, 1,
              [&](std::int64_t first, std::int64_t last) { round_row(x + first, last - first, y + first); });
    return;
  }
  in_ranges(columns, 2 * rows,
            [&](std::int64_t first, std::int64_t last) { round_columns(rows, columns, first, last, x, y); });
}

Result<void> multiply_bf16(std::int64_t m, std::int64_t n, std::int64_t k, const std::uint16_t* a,
                           const std::uint16_t* b, float* c) {
  const auto product = gemm_bf16(span_of(a, m * k), span_of(b, n * k), m, n, k);
  if (!product) return product.error();
  std::ranges::copy(*product, c);
  return {};
}

}  // namespace fp4proof::portable::training
