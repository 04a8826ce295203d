#include "conformance/study/corrected_error.h"

#include <cmath>
#include <vector>

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

void CorrectedError::add(const CorrectedError& other) {
  split.add(other.split);
  saturated += other.saturated;
}

Result<CorrectedError> corrected_error(const Profile& profile, const portable::TensorView& tensor,
                                       const portable::QuantizeOptions& options, const Corrected& corrected,
                                       std::span<const float> values) {
  const auto split = portable::decompose(profile, tensor, options, values);
  if (!split) return split.error();
  return CorrectedError{*split, saturated_elements(corrected, tensor)};
}

}  // namespace fp4proof
