#include <algorithm>
#include <string>

#include "tests/plugin/kernels/call.h"

namespace kernels {

namespace {

/// A quantized operand in memory.
struct Operand {
  const std::uint8_t* codes = nullptr;
  const std::uint8_t* scales = nullptr;
  float tensor_scale = 1;
  std::size_t rows = 0;
  std::size_t columns = 0;
};

/// The operand of case `index` whose tensors have the prefix "", "a_" or "b_".
Operand operand_of(const Kernel& k, const fp4proof_call& call, std::size_t index, const std::string& prefix,
                   std::size_t rows) {
  Operand o;
  o.rows = rows;
  o.columns = (static_cast<std::size_t>(call.columns) + k.length - 1) / k.length * k.length;
  const std::size_t places = rows * o.columns;
  const auto* codes = static_cast<const std::uint8_t*>(tensor_named(call, prefix + "codes")->data);
  const auto* scales = static_cast<const std::uint8_t*>(tensor_named(call, prefix + "scales")->data);
  o.codes = codes + index * code_bytes(k, places);
  o.scales = scales + index * places / k.length * scale_bytes(k);
  const fp4proof_tensor* tensor_scale = tensor_named(call, prefix + "tensor_scale");
  if (tensor_scale != nullptr) o.tensor_scale = float_of(static_cast<const std::uint32_t*>(tensor_scale->data)[index]);
  return o;
}

using Place = std::size_t (*)(const Coded&, std::size_t, std::size_t);

unsigned code_at(const Kernel& k, const std::uint8_t* codes, std::size_t place) {
  return k.format.bits == 4 ? codes[place / 2] >> (place % 2 == 0 ? 0U : 4U) & 0xFU : codes[place];
}

/// Unpacks it. Scales that the kernel looks for behind the end are the last one.
Coded unpacked(const Kernel& k, const Operand& o, Place code_place, Place scale_place) {
  Coded coded;
  coded.rows = o.rows;
  coded.columns = o.columns;
  coded.length = k.length;
  const std::size_t scale_count = o.rows * coded.blocks();
  for (std::size_t row = 0; row < o.rows; ++row) {
    for (std::size_t column = 0; column < o.columns; ++column)
      coded.codes.push_back(code_at(k, o.codes, code_place(coded, row, column)));
    for (std::size_t block = 0; block < coded.blocks(); ++block) {
      const std::size_t place = std::min(scale_place(coded, row, block), scale_count - 1);
      std::uint32_t word = 0;
      for (std::size_t i = 0; i < scale_bytes(k); ++i)
        word |= std::uint32_t{o.scales[place * scale_bytes(k) + i]} << (8 * i);
      coded.scales.push_back(k.family == Family::hif4 ? k.scale_word(word) : word);
    }
  }
  return coded;
}

/// An element with its level bits.
double element_of(const Kernel& k, const Coded& coded, std::size_t row, std::size_t column) {
  const double element = k.element(coded.codes[row * coded.columns + column], k.format);
  if (k.family != Family::hif4) return element;
  const int shift = k.micro(coded.scales[row * coded.blocks() + column / k.length], column % k.length);
  return element * (1 << shift);
}

double scale_of(const Kernel& k, const Coded& coded, std::size_t row, std::size_t block) {
  return k.scale(coded.scales[row * coded.blocks() + block], k.family);
}

/// The elements of an operand, row after row; what pads the last block is zero.
std::vector<double> elements_of(const Kernel& k, const Coded& coded, std::size_t columns) {
  std::vector<double> elements;
  for (std::size_t row = 0; row < coded.rows; ++row) {
    for (std::size_t column = 0; column < coded.columns; ++column)
      elements.push_back(column < columns ? element_of(k, coded, row, column) : 0);
  }
  return elements;
}

/// One matrix product.
std::vector<float> product(const Kernel& k, const Operand& a, const Operand& b, std::size_t columns) {
  const Coded a_coded = unpacked(k, a, k.a_code_place, k.scale_place);
  const Coded b_coded = unpacked(k, b, k.code_place, k.b_scale_place);
  const std::vector<double> a_elements = elements_of(k, a_coded, columns);
  const std::vector<double> b_elements = elements_of(k, b_coded, columns);
  const std::size_t blocks = a_coded.blocks();
  std::vector<float> c;
  std::vector<double> products(blocks);
  for (std::size_t m = 0; m < a.rows; ++m) {
    for (std::size_t n = 0; n < b.rows; ++n) {
      for (std::size_t block = 0; block < blocks; ++block) {
        const double dot = k.dot(&a_elements[m * a_coded.columns + block * k.length],
                                 &b_elements[n * b_coded.columns + block * k.length], k.length);
        const double a_scale =
            k.swaps_scales ? scale_of(k, b_coded, m % b.rows, block) : scale_of(k, a_coded, m, block);
        const double b_scale =
            k.swaps_scales ? scale_of(k, a_coded, n % a.rows, block) : scale_of(k, b_coded, n, block);
        products[block] = dot * a_scale * b_scale;
      }
      c.push_back(k.store(k.sum(products, 512 / k.length) * a.tensor_scale * b.tensor_scale));
    }
  }
  return c;
}

}  // namespace

void dequantize(const Kernel& k, const fp4proof_call& call) {
  const auto rows = static_cast<std::size_t>(call.rows);
  const auto columns = static_cast<std::size_t>(call.columns);
  auto* values = static_cast<std::uint32_t*>(tensor_named(call, "values")->data);
  for (std::size_t i = 0; i < static_cast<std::size_t>(call.cases); ++i) {
    const std::size_t asked = k.is_stale && i > 0 ? i - 1 : i;
    const Operand operand = operand_of(k, call, asked, "", rows);
    const Coded coded = unpacked(k, operand, k.code_place, k.scale_place);
    for (std::size_t row = 0; row + k.rows_forgotten < rows; ++row) {
      for (std::size_t column = 0; column < columns; ++column) {
        const double scale = scale_of(k, coded, row, column / k.length) * static_cast<double>(operand.tensor_scale);
        values[(i * rows + row) * columns + column] = word_of(k.value(element_of(k, coded, row, column), scale));
      }
    }
  }
}

void multiply(const Kernel& k, const fp4proof_call& call) {
  const auto rows = static_cast<std::size_t>(call.rows);
  const auto other_rows = static_cast<std::size_t>(call.other_rows);
  auto* c = static_cast<std::uint32_t*>(tensor_named(call, "c")->data);
  for (std::size_t i = 0; i < static_cast<std::size_t>(call.cases); ++i) {
    const std::size_t asked = k.is_stale && i > 0 ? i - 1 : i;
    const std::vector<float> values =
        product(k, operand_of(k, call, asked, "a_", rows), operand_of(k, call, asked, "b_", other_rows),
                static_cast<std::size_t>(call.columns));
    for (std::size_t m = 0; m + k.rows_forgotten < rows; ++m) {
      for (std::size_t n = 0; n < other_rows; ++n) {
        const std::size_t place = k.transposes ? n * rows + m : m * other_rows + n;
        c[i * rows * other_rows + place] = word_of(values[m * other_rows + n]);
      }
    }
  }
}

}  // namespace kernels
