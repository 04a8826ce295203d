#include "reference/portable/gemm_tensor_core.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace fp4proof::portable {

namespace {

/// Room for the terms of any instruction.
using Terms = std::array<ModelTerm, 32>;

ModelTerm product_of(const ModelNumber& a, const ModelNumber& b) {
  return {std::int64_t{a.significand} * b.significand, a.exponent + b.exponent};
}
constexpr int product_point = 2 * significand_fraction_bits;

/// The dot of two blocks by IEEE 754: for blocks that hold NaN or infinity, where nothing finite matters.
double ieee_dot(const OperandReader& a, std::int64_t row_a, const OperandReader& b, std::int64_t row_b,
                std::int64_t block) {
  std::array<double, max_block_length> x;
  std::array<double, max_block_length> y;
  a.read_block(row_a, block, x.data());
  b.read_block(row_b, block, y.data());
  double sum = 0.0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.length()); ++i) sum += x[i] * y[i];
  return sum;
}

Panels<double> panels_of_scales(const OperandReader& reader, int width) {
  Panels<double> scales(reader.rows(), reader.blocks(), width);
  for (std::int64_t row = 0; row < reader.rows(); ++row) {
    for (std::int64_t block = 0; block < reader.blocks(); ++block) scales.at(row, block) = reader.scale(row, block);
  }
  return scales;
}

/// One pair of blocks in one Blackwell instruction.
struct BlockPair {
  const ModelNumber* a;
  const ModelNumber* b;
  ModelTerm scales;
  int length;
};

/// Products of elements; the scales are powers of two and add their exponents.
std::size_t add_products(const BlockPair& pair, std::size_t count, Terms& terms) {
  for (int i = 0; i < pair.length; ++i) {
    const ModelTerm product = product_of(pair.a[i], pair.b[i]);
    terms[count++] = {product.significand, product.exponent + pair.scales.exponent};
  }
  return count;
}

/// E2M1 in halves: significand / 8 * 2^exponent, the exponent in 0..2.
int halves_of(const ModelNumber& number) {
  return number.significand == 0 ? 0 : number.significand * (1 << number.exponent) / 4;
}

constexpr int group_point = 2 + product_point;  // a dot counts in quarters, the scales in sixty-fourths

/// Exact dots of sixteen elements; the significands of the scales multiply them.
std::size_t add_group_dots(const BlockPair& pair, std::size_t count, Terms& terms) {
  for (int first = 0; first < pair.length; first += mxf4_group) {
    std::int64_t quarters = 0;
    for (int i = first; i < first + mxf4_group; ++i) quarters += halves_of(pair.a[i]) * halves_of(pair.b[i]);
    terms[count++] = {quarters * pair.scales.significand, pair.scales.exponent};
  }
  return count;
}

}  // namespace

ModelOperand::ModelOperand(const OperandReader& reader, int min_exponent)
    : reader_(reader),
      numbers_(static_cast<std::size_t>(reader.rows() * reader.blocks() * reader.length())),
      scales_(static_cast<std::size_t>(reader.rows() * reader.blocks())),
      special_(scales_.size()) {
  const int min_scale_exponent = scale_min_exponent(reader.profile().family);
  const auto length = static_cast<std::size_t>(reader.length());
  const std::int64_t rows = reader.rows();
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < rows; ++row) {
    std::array<double, max_block_length> values;
    for (std::int64_t block = 0; block < reader.blocks(); ++block) {
      const auto at = static_cast<std::size_t>(row * reader.blocks() + block);
      reader.read_block(row, block, values.data());
      for (std::size_t i = 0; i < length; ++i) {
        const bool finite = std::isfinite(values[i]);
        numbers_[at * length + i] = model_number(finite ? values[i] : 0.0, min_exponent);
        if (!finite) special_[at] = 1;
      }
      const double scale = reader.scale(row, block);
      if (std::isnan(scale)) special_[at] = 1;
      scales_[at] = model_number(std::isnan(scale) ? 0.0 : scale, min_scale_exponent);
    }
  }
}

HopperDots::HopperDots(const TensorCore& core, int (*min_exponent)(Element), const OperandReader& a,
                       const OperandReader& b)
    : core_(core),
      a_(a, min_exponent(a.profile().element)),
      b_(b, min_exponent(b.profile().element)),
      scales_a_(panels_of_scales(a, tile_rows)),
      scales_b_(panels_of_scales(b, tile_columns)) {}

void HopperDots::compute(std::int64_t panel_a, std::int64_t panel_b, std::int64_t block, TileDots& dots) const {
  dots.high.fill(0.0);
  dots.is_split = false;
  const std::int64_t first_a = panel_a * tile_rows;
  const std::int64_t first_b = panel_b * tile_columns;
  const std::int64_t rows_a = std::min<std::int64_t>(tile_rows, a_.reader().rows() - first_a);
  const std::int64_t rows_b = std::min<std::int64_t>(tile_columns, b_.reader().rows() - first_b);
  for (std::int64_t i = 0; i < rows_a; ++i) {
    for (std::int64_t j = 0; j < rows_b; ++j) {
      dots.high[static_cast<std::size_t>(i * tile_columns + j)] = dot(first_a + i, first_b + j, block);
    }
  }
}

double HopperDots::dot(std::int64_t row_a, std::int64_t row_b, std::int64_t block) const {
  if (a_.is_special(row_a, block) || b_.is_special(row_b, block)) {
    return ieee_dot(a_.reader(), row_a, b_.reader(), row_b, block);
  }
  const ModelNumber* a = a_.block(row_a, block);
  const ModelNumber* b = b_.block(row_b, block);
  const int length = a_.reader().length();
  Terms terms;
  float accumulator = 0.0F;
  for (int first = 0; first < length; first += core_.elements) {
    const int count = std::min(core_.elements, length - first);
    for (int i = 0; i < count; ++i) terms[static_cast<std::size_t>(i)] = product_of(a[first + i], b[first + i]);
    accumulator = fused_sum(core_, accumulator, std::span(terms).first(static_cast<std::size_t>(count)), product_point);
  }
  return accumulator;
}

float blackwell_sum(const TensorCore& core, const ModelOperand& a, std::int64_t row_a, const ModelOperand& b,
                    std::int64_t row_b) {
  const int length = a.reader().length();
  const bool groups = core.elements == blackwell_mxf4.elements;
  const std::int64_t blocks_per_instruction = core.elements / length;
  const std::int64_t blocks = a.reader().blocks();
  Terms terms;
  float accumulator = 0.0F;
  for (std::int64_t first = 0; first < blocks; first += blocks_per_instruction) {
    std::size_t count = 0;
    double special = accumulator;
    for (std::int64_t block = first; block < std::min(first + blocks_per_instruction, blocks); ++block) {
      if (a.is_special(row_a, block) || b.is_special(row_b, block)) {
        special += ieee_dot(a.reader(), row_a, b.reader(), row_b, block) * a.reader().scale(row_a, block) *
                   b.reader().scale(row_b, block);
      }
      const BlockPair pair = {a.block(row_a, block), b.block(row_b, block),
                              product_of(a.scale(row_a, block), b.scale(row_b, block)), length};
      count = groups ? add_group_dots(pair, count, terms) : add_products(pair, count, terms);
    }
    accumulator = std::isfinite(special) ? fused_sum(core, accumulator, std::span(terms).first(count),
                                                     groups ? group_point : product_point)
                                         : static_cast<float>(special);
  }
  return accumulator;
}

}  // namespace fp4proof::portable
