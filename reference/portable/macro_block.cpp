#include "reference/portable/macro_block.h"

#include <algorithm>

#include "formats/macro_block.h"
#include "formats/strict_math.h"

namespace fp4proof::portable {

namespace {

std::uint32_t largest_finite_bits(std::span<const float> values) {
  std::uint32_t largest = 0;
  for (const float value : values) {
    const std::uint32_t magnitude = float_bits(value) & float_magnitude_mask;
    if (magnitude < float_infinity_bits) largest = std::max(largest, magnitude);
  }
  return largest;
}

/// Calls visit(values, factor) for every macro block of every row.
template <class Visit>
void for_each_macro_block(const MacroSpec& macro, const Geometry& geometry, std::span<const std::uint8_t> bytes,
                          std::span<float> rows, Visit visit) {
  const std::int64_t per_row = macro_blocks_per_row(macro, geometry.columns);
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < geometry.rows; ++row) {
    for (std::int64_t block = 0; block < per_row; ++block) {
      const float factor = macro_factor(bytes[static_cast<std::size_t>(row * per_row + block)]);
      const std::int64_t first = block * macro.size;
      const std::int64_t count = std::min<std::int64_t>(macro.size, geometry.columns - first);
      visit(rows.subspan(static_cast<std::size_t>(row * geometry.columns + first), static_cast<std::size_t>(count)),
            factor);
    }
  }
}

void multiply_all(std::span<float> values, float factor) {
  for (float& value : values) value = strict::canonicalise_nan(value * factor);
}

void divide_all(std::span<float> values, float factor) {
  for (float& value : values) value = strict::divide(value, factor);
}

}  // namespace

std::vector<std::uint8_t> macro_bytes(const Profile& profile, const MacroSpec& macro, const Geometry& geometry,
                                      std::span<const float> rows) {
  const std::int64_t per_row = macro_blocks_per_row(macro, geometry.columns);
  const std::int64_t height = profile.block.is_2d() ? macro.size : 1;
  const std::int64_t bands_per_matrix = (geometry.matrix_rows + height - 1) / height;
  const std::int64_t matrices = geometry.matrix_rows == 0 ? 0 : geometry.rows / geometry.matrix_rows;
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(geometry.rows * per_row));
#pragma omp parallel for schedule(static)
  for (std::int64_t band = 0; band < matrices * bands_per_matrix; ++band) {
    const std::int64_t within = band % bands_per_matrix * height;
    const std::int64_t first_row = band / bands_per_matrix * geometry.matrix_rows + within;
    const std::int64_t last_row = first_row + std::min(height, geometry.matrix_rows - within);
    for (std::int64_t block = 0; block < per_row; ++block) {
      const std::int64_t column = block * macro.size;
      const std::int64_t count = std::min<std::int64_t>(macro.size, geometry.columns - column);
      std::uint32_t largest = 0;
      for (std::int64_t row = first_row; row < last_row; ++row) {
        largest = std::max(largest,
                           largest_finite_bits(rows.subspan(static_cast<std::size_t>(row * geometry.columns + column),
                                                            static_cast<std::size_t>(count))));
      }
      const std::uint8_t byte = macro_byte(macro.form, profile.element, largest);
      for (std::int64_t row = first_row; row < last_row; ++row) {
        bytes[static_cast<std::size_t>(row * per_row + block)] = byte;
      }
    }
  }
  return bytes;
}

void scale_macro_blocks(const MacroSpec& macro, const Geometry& geometry, std::span<const std::uint8_t> bytes,
                        std::span<float> rows) {
  for_each_macro_block(macro, geometry, bytes, rows, macro.form == MacroForm::multiply ? multiply_all : divide_all);
}

void unscale_macro_blocks(const MacroSpec& macro, const Geometry& geometry, std::span<const std::uint8_t> bytes,
                          std::span<float> rows) {
  for_each_macro_block(macro, geometry, bytes, rows, macro.form == MacroForm::multiply ? divide_all : multiply_all);
}

std::vector<float> macro_weights(const Corrected& corrected, const CodedPart& part) {
  std::vector<float> weights(part.macro.size());
  for (std::size_t i = 0; i < weights.size(); ++i) {
    weights[i] = macro_weight(corrected.stack.macro.form, part.macro[i]);
  }
  return weights;
}

}  // namespace fp4proof::portable
