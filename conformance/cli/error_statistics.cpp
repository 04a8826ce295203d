#include "conformance/cli/error_statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "formats/float_bits.h"

namespace fp4proof::cli {

namespace {

struct ChunkReader {
  const Profile& profile;
  const portable::TensorView& tensor;
  const portable::Geometry& geometry;
  const QuantizedChunk& chunk;
  ElementSpec spec;

  std::uint8_t magnitude_code(std::int64_t local_row, std::int64_t column) const {
    const std::uint8_t* row = chunk.codes.data() + local_row * geometry.code_bytes_per_row;
    const int byte = spec.is_nibble() ? row[column / 2] >> (4 * (column & 1)) : row[column];
    return static_cast<std::uint8_t>(byte & (spec.sign_mask() - 1));
  }

  std::int64_t nan_blocks(std::int64_t local_row) const {
    const std::int64_t matrix_row = (chunk.rows.begin + local_row) % geometry.matrix_rows;
    if (profile.block.is_2d() && matrix_row % profile.block.rows != 0) return 0;
    const int width = scale_bytes(profile.family);
    const std::uint8_t nan = profile.family == Family::nvfp4 ? e4m3_scale_nan : e8m0_nan;
    const std::uint8_t* scales = chunk.scales.data() + local_row * geometry.scale_bytes_per_row;
    std::int64_t count = 0;
    for (std::int64_t block = 0; block < geometry.blocks; ++block) count += scales[block * width] == nan ? 1 : 0;
    return count;
  }

  void compare(ErrorSums& sums, std::int64_t local_row, std::int64_t column, std::uint32_t word, float value) const {
    if (!is_finite_bits(word) || !is_finite_bits(float_bits(value))) return;
    const double x = float_from_bits(word);
    const double error = double{value} - x;
    ++sums.compared;
    sums.error_squared += error * error;
    sums.value_squared += x * x;
    sums.max_error = std::max(sums.max_error, std::abs(error));
    if (value == 0.0F && x != 0.0) ++sums.zeroed;
    const bool shrunk = std::abs(double{value}) < std::abs(x);
    if (shrunk && magnitude_code(local_row, column) == spec.max_code) ++sums.saturated;
  }

  ErrorSums row(std::int64_t local_row, const float* values) const {
    std::array<std::uint32_t, 4096> words;
    constexpr auto most = static_cast<std::int64_t>(words.size());
    const std::int64_t first = geometry.first_element(chunk.rows.begin + local_row);
    ErrorSums sums;
    sums.elements = geometry.columns;
    sums.nan_blocks = nan_blocks(local_row);
    for (std::int64_t column = 0; column < geometry.columns; column += most) {
      const auto count = static_cast<int>(std::min(most, geometry.columns - column));
      portable::load_words(tensor, first + column * geometry.inner, geometry.inner, count, words.data());
      for (int i = 0; i < count; ++i) {
        compare(sums, local_row, column + i, words[static_cast<std::size_t>(i)], values[column + i]);
      }
    }
    return sums;
  }
};

nlohmann::json finite_or_null(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

void ErrorSums::add(const ErrorSums& other) {
  elements += other.elements;
  compared += other.compared;
  error_squared += other.error_squared;
  value_squared += other.value_squared;
  max_error = std::max(max_error, other.max_error);
  zeroed += other.zeroed;
  saturated += other.saturated;
  nan_blocks += other.nan_blocks;
  bytes += other.bytes;
  saturation_known = saturation_known && other.saturation_known;
}

double ErrorSums::relative_error() const {
  if (compared == 0 && elements != 0) return std::numeric_limits<double>::quiet_NaN();
  return error_squared == 0 ? 0.0 : error_squared / value_squared;
}

double ErrorSums::bits_per_element() const {
  return elements == 0 ? 0.0 : 8.0 * static_cast<double>(bytes) / static_cast<double>(elements);
}

std::uint64_t stored_bytes(const Profile& profile, const portable::Geometry& geometry) {
  const std::uint64_t tensor_scale = profile.tensor_scale ? sizeof(float) : 0;
  return static_cast<std::uint64_t>(geometry.code_bytes() + geometry.scale_bytes()) + tensor_scale;
}

nlohmann::json to_json(const ErrorSums& sums) {
  return {
      {"elements", sums.elements},
      {"compared", sums.compared},
      {"relative_error", finite_or_null(sums.relative_error())},
      {"relative_error_root", finite_or_null(std::sqrt(sums.relative_error()))},
      {"max_abs_error", finite_or_null(sums.max_error)},
      {"zeroed", share(sums.zeroed, sums.elements)},
      {"saturated", sums.saturation_known ? nlohmann::json(share(sums.saturated, sums.elements)) : nullptr},
      {"nan_blocks", sums.nan_blocks},
      {"bits_per_element", sums.bits_per_element()},
  };
}

ErrorSums chunk_errors(const Profile& profile, const TensorSource& source, const portable::Geometry& geometry,
                       const QuantizedChunk& chunk, std::span<const float> values) {
  const portable::TensorView tensor = source.view();
  const ChunkReader reader{profile, tensor, geometry, chunk, element_spec(profile.element)};
  std::vector<ErrorSums> rows(static_cast<std::size_t>(chunk.rows.count()));
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < chunk.rows.count(); ++row) {
    rows[static_cast<std::size_t>(row)] = reader.row(row, values.data() + row * geometry.columns);
  }
  ErrorSums sums;
  for (const ErrorSums& row : rows) sums.add(row);
  return sums;
}

}  // namespace fp4proof::cli
