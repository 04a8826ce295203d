#include "conformance/study/measure.h"

#include <cmath>

#include "conformance/study/stored_bits.h"
#include "formats/strict_math.h"
#include "reference/portable/correct.h"
#include "reference/portable/corrected_parts.h"

namespace fp4proof {

namespace {

using portable::Corrected;
using portable::Geometry;

std::uint8_t magnitude_code(const ElementSpec& spec, const Geometry& geometry, std::span<const std::uint8_t> codes,
                            std::int64_t row, std::int64_t column) {
  const std::uint8_t* bytes = codes.data() + row * geometry.code_bytes_per_row;
  const int code = spec.is_nibble() ? bytes[column / 2] >> (4 * (column & 1)) : bytes[column];
  return static_cast<std::uint8_t>(code & (spec.sign_mask() - 1));
}

/// Elements of the inner quantizer that clip.
std::int64_t saturated_elements(const Corrected& corrected, const portable::TensorView& tensor) {
  const Geometry& geometry = corrected.geometry();
  const ElementSpec spec = element_spec(corrected.profile.element);
  const std::vector<float> input = portable::inner_input(corrected.stack, corrected.product, tensor, geometry);
  const std::vector<float> decoded = portable::decode_part(corrected, corrected.first);
  std::int64_t count = 0;
#pragma omp parallel for schedule(static) reduction(+ : count)
  for (std::int64_t row = 0; row < geometry.rows; ++row) {
    for (std::int64_t column = 0; column < geometry.columns; ++column) {
      const auto at = static_cast<std::size_t>(row * geometry.columns + column);
      const bool shrunk = std::isfinite(input[at]) && std::fabs(decoded[at]) < std::fabs(input[at]);
      if (shrunk && magnitude_code(spec, geometry, corrected.first.quantized.codes, row, column) == spec.max_code)
        ++count;
    }
  }
  return count;
}

}  // namespace

void StudyMeasure::add(const StudyMeasure& other) {
  split.add(other.split);
  saturated += other.saturated;
  product.error += other.product.error;
  product.value += other.product.value;
  bits += other.bits;
}

double StudyMeasure::saturated_fraction() const {
  return split.compared() == 0 ? 0.0 : static_cast<double>(saturated) / static_cast<double>(split.compared());
}

double StudyMeasure::product_error() const {
  return product.value == 0 ? 0.0 : strict::sqrt_double(product.error / product.value);
}

double StudyMeasure::bits_per_element() const {
  return split.elements == 0 ? 0.0 : static_cast<double>(bits) / static_cast<double>(split.elements);
}

Result<StudyTensor> StudyTensor::make(const portable::TensorView& tensor, const portable::QuantizeOptions& options,
                                      std::uint64_t seed) {
  const auto geometry = portable::cut_into_blocks({}, tensor.shape, options.axis, portable::Tail::pad);
  if (!geometry) return geometry.error();
  const std::vector<float> rows = portable::inner_input({}, 0, tensor, *geometry);
  return StudyTensor(tensor, options, ProductStudy(rows, geometry->rows, geometry->columns, seed));
}

Result<StudyMeasure> StudyTensor::measure(const Profile& profile, const CorrectionStack& stack) const {
  const auto corrected = portable::correct(profile, stack, tensor_, {.quantize = options_});
  if (!corrected) return corrected.error();
  const std::vector<float> values = portable::dequantize(*corrected);
  StudyMeasure result;
  const auto split = portable::decompose(profile, tensor_, options_, values);
  if (!split) return split.error();
  result.split = *split;
  result.saturated = saturated_elements(*corrected, tensor_);
  const auto product = product_.measure(profile, stack, options_, values);
  if (!product) return product.error();
  result.product = *product;
  result.bits = stored_bits(*corrected, tensor_);
  return result;
}

}  // namespace fp4proof
