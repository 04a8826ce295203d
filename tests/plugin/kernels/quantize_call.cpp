#include <algorithm>
#include <cmath>

#include "tests/plugin/kernels/call.h"

namespace kernels {

namespace {

/// What a case is cut into.
struct Shape {
  std::size_t rows;     ///< of blocks
  std::size_t columns;  ///< elements in a row, without padding
  std::size_t padded;
  bool is_strided;  ///< blocks run along axis 0
};

Shape shape_of(const Kernel& k, const fp4proof_call& call) {
  const auto rows = static_cast<std::size_t>(call.axis == 1 ? call.rows : call.columns);
  const auto columns = static_cast<std::size_t>(call.axis == 1 ? call.columns : call.rows);
  return {rows, columns, (columns + k.length - 1) / k.length * k.length, call.axis == 0 && !k.ignores_axis};
}

/// Where an element of a row of blocks stands in the input.
std::size_t input_place(const Shape& s, std::size_t row, std::size_t column) {
  return s.is_strided ? column * s.rows + row : row * s.columns + column;
}

float tensor_scale_of(const Kernel& k, const std::uint32_t* input, std::size_t count) {
  if (!k.has_tensor_scale) return 1.0F;
  float amax = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const float magnitude = std::fabs(float_of(input[i]));
    if (std::isfinite(magnitude)) amax = std::max(amax, magnitude);
  }
  return k.tensor_scale(amax);
}

Coded code_case(const Kernel& k, const Shape& s, const std::uint32_t* input, const std::uint32_t* random,
                float tensor_scale) {
  Coded coded;
  coded.rows = s.rows;
  coded.columns = s.padded;
  coded.length = k.length;
  std::vector<double> x(k.length);
  std::vector<std::uint32_t> words(k.length);
  for (std::size_t row = 0; row < s.rows; ++row) {
    for (std::size_t first = 0; first < s.padded; first += k.length) {
      for (std::size_t i = 0; i < k.length; ++i) {
        const bool is_inside = first + i < s.columns;
        const std::size_t place = is_inside ? input_place(s, row, first + i) : 0;
        x[i] = is_inside ? static_cast<double>(float_of(input[place])) : k.padding;
        words[i] = is_inside && random != nullptr ? random[place] : 0;
        if (k.seeds_itself) words[i] = static_cast<std::uint32_t>(place + 1) * 2654435761U;
      }
      const Block block = quantize_block(k, x, random == nullptr ? nullptr : words.data(), tensor_scale);
      coded.codes.insert(coded.codes.end(), block.codes.begin(), block.codes.end());
      coded.scales.push_back(block.scale);
    }
  }
  return coded;
}

void store_code(const Kernel& k, std::size_t place, unsigned code, std::uint8_t* out) {
  if (k.format.bits != 4) {
    out[place] = static_cast<std::uint8_t>(code);
    return;
  }
  const unsigned shift = place % 2 == 0 ? 0 : 4;
  out[place / 2] = static_cast<std::uint8_t>((out[place / 2] & (0xF0U >> shift)) | (code & 0xFU) << shift);
}

void store_scale(const Kernel& k, std::size_t place, std::uint32_t scale, std::uint8_t* out) {
  const std::uint32_t word = k.family == Family::hif4 ? k.scale_word(scale) : scale;
  for (std::size_t i = 0; i < scale_bytes(k); ++i) {
    out[place * scale_bytes(k) + i] = static_cast<std::uint8_t>(word >> (8 * i));
  }
}

/// `written`: how many columns of a row the kernel thinks of.
void store_case(const Kernel& k, const Coded& coded, std::size_t written, std::uint8_t* codes, std::uint8_t* scales) {
  const std::size_t scale_count = coded.scales.size();
  if (k.clears_scales) std::fill_n(scales, scale_count * scale_bytes(k), std::uint8_t{0});
  for (std::size_t row = 0; row + k.rows_forgotten < coded.rows; ++row) {
    for (std::size_t column = 0; column < written; ++column) {
      store_code(k, k.code_place(coded, row, column), coded.codes[row * coded.columns + column], codes);
    }
    for (std::size_t block = 0; block < (written + k.length - 1) / k.length; ++block) {
      const std::size_t place = k.scale_place(coded, row, block);
      if (place < scale_count) store_scale(k, place, coded.scales[row * coded.blocks() + block], scales);
    }
  }
}

}  // namespace

const fp4proof_tensor* tensor_named(const fp4proof_call& call, std::string_view name) {
  for (std::int32_t i = 0; i < call.input_count + call.output_count; ++i) {
    const fp4proof_tensor* first = i < call.input_count ? call.inputs : call.outputs;
    const fp4proof_tensor* tensor = fp4proof_tensor_at(&call, first, i < call.input_count ? i : i - call.input_count);
    if (tensor->name == name) return tensor;
  }
  return nullptr;
}

void quantize(const Kernel& k, const fp4proof_call& call) {
  const Shape shape = shape_of(k, call);
  const auto cases = static_cast<std::size_t>(call.cases);
  const std::size_t elements = shape.rows * shape.columns;
  const std::size_t places = shape.rows * shape.padded;
  const auto* input = static_cast<const std::uint32_t*>(tensor_named(call, "input")->data);
  const fp4proof_tensor* random = tensor_named(call, "random");
  auto* codes = static_cast<std::uint8_t*>(tensor_named(call, "codes")->data);
  auto* scales = static_cast<std::uint8_t*>(tensor_named(call, "scales")->data);
  const fp4proof_tensor* tensor_scales = tensor_named(call, "tensor_scale");
  const std::size_t written = k.forgets_tail ? shape.columns / k.length * k.length : shape.padded;
  for (std::size_t i = 0; i < cases; ++i) {
    const std::size_t asked = k.is_stale && i > 0 ? i - 1 : i;
    const std::uint32_t* words =
        random == nullptr ? nullptr : static_cast<const std::uint32_t*>(random->data) + asked * elements;
    const float tensor_scale = tensor_scale_of(k, input + asked * elements, elements);
    const Coded coded = code_case(k, shape, input + asked * elements, words, tensor_scale);
    store_case(k, coded, written, codes + i * code_bytes(k, places), scales + i * places / k.length * scale_bytes(k));
    if (tensor_scales != nullptr) static_cast<std::uint32_t*>(tensor_scales->data)[i] = word_of(tensor_scale);
  }
}

}  // namespace kernels
