#include "conformance/study/stored_bits.h"

#include <algorithm>

#include "reference/portable/corrected_parts.h"
#include "reference/portable/residual_mask.h"

namespace fp4proof {

namespace {

using portable::Corrected;
using portable::Geometry;

std::int64_t scale_bits(const Profile& profile, const portable::CodedPart& part) {
  const std::int64_t bytes = part.quantized.geometry.scale_bytes() + static_cast<std::int64_t>(part.macro.size());
  return 8 * bytes + (profile.tensor_scale ? 32 : 0);
}

std::int64_t tiles_of(const ResidualSpec& spec, const Geometry& geometry) {
  const auto pieces = [](std::int64_t length, std::int64_t size) { return (length + size - 1) / size; };
  return pieces(geometry.rows, spec.tile_rows) * pieces(geometry.columns, spec.tile_cols);
}

std::int64_t kept_elements(const Corrected& corrected, const portable::TensorView& tensor) {
  const Geometry& geometry = corrected.geometry();
  const std::vector<float> input = portable::inner_input(corrected.stack, corrected.product, tensor, geometry);
  const std::vector<float> residual = portable::difference(input, portable::decode_part(corrected, corrected.first));
  const auto mask = portable::residual_mask(corrected.stack.residual, geometry, input, residual);
  return std::count(mask.begin(), mask.end(), std::uint8_t{1});
}

std::int64_t residual_code_bits(const Corrected& corrected, const portable::TensorView& tensor) {
  const Geometry& geometry = corrected.geometry();
  const ResidualSpec& spec = corrected.stack.residual;
  const std::int64_t bits = element_spec(corrected.profile.element).bits();
  switch (spec.mask) {
    case ResidualMask::dense: return geometry.rows * geometry.padded_columns * bits;
    case ResidualMask::two_four: return geometry.rows * (geometry.padded_columns / 4) * (2 * bits + 4);
    case ResidualMask::top_channels:
      return geometry.rows * kept_count(spec.fraction, geometry.columns) * bits + geometry.columns;
    case ResidualMask::top_tiles:
    case ResidualMask::tiles_above: return kept_elements(corrected, tensor) * bits + tiles_of(spec, geometry);
  }
  return 0;
}

}  // namespace

std::uint64_t stored_bits(const Corrected& corrected, const portable::TensorView& tensor) {
  const Geometry& geometry = corrected.geometry();
  std::int64_t bits = geometry.rows * geometry.padded_columns * element_spec(corrected.profile.element).bits();
  bits += scale_bits(corrected.profile, corrected.first);
  if (corrected.residual) {
    bits += scale_bits(corrected.profile, *corrected.residual) + residual_code_bits(corrected, tensor);
  }
  return static_cast<std::uint64_t>(bits);
}

}  // namespace fp4proof
