#include "conformance/study/measure.h"

#include "conformance/study/stored_bits.h"
#include "formats/strict_math.h"
#include "reference/portable/correct.h"
#include "reference/portable/corrected_parts.h"

namespace fp4proof {

void StudyMeasure::add(const StudyMeasure& other) {
  error.add(other.error);
  product.error += other.product.error;
  product.value += other.product.value;
  bits += other.bits;
}

double StudyMeasure::saturated_fraction() const {
  const std::int64_t compared = error.split.compared();
  return compared == 0 ? 0.0 : static_cast<double>(error.saturated) / static_cast<double>(compared);
}

double StudyMeasure::product_error() const {
  return product.value == 0 ? 0.0 : strict::sqrt_double(product.error / product.value);
}

double StudyMeasure::bits_per_element() const {
  const std::int64_t elements = error.split.elements;
  return elements == 0 ? 0.0 : static_cast<double>(bits) / static_cast<double>(elements);
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
  const auto error = corrected_error(profile, tensor_, options_, *corrected, values);
  if (!error) return error.error();
  result.error = *error;
  const auto product = product_.measure(profile, stack, options_, values);
  if (!product) return product.error();
  result.product = *product;
  result.bits = stored_bits(*corrected, tensor_);
  return result;
}

}  // namespace fp4proof
