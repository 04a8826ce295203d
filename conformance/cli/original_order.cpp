#include "conformance/cli/original_order.h"

#include <algorithm>
#include <vector>

namespace fp4proof::cli {

namespace {

constexpr std::int64_t value_bytes = 4;

/// `rows` x `columns` to `columns` x `rows`.
std::vector<float> transposed(const float* values, std::int64_t rows, std::int64_t columns) {
  std::vector<float> result(static_cast<std::size_t>(rows * columns));
  for (std::int64_t column = 0; column < columns; ++column) {
    for (std::int64_t row = 0; row < rows; ++row) {
      result[static_cast<std::size_t>(column * rows + row)] = values[row * columns + column];
    }
  }
  return result;
}

/// Rows of one group of interleaved rows: they lie `inner` apart per column.
Result<void> write_group(SafetensorsWriter& writer, const std::string& name, const portable::Geometry& geometry,
                         RowRange rows, const float* values) {
  const std::vector<float> columns = transposed(values, rows.count(), geometry.columns);
  const auto first = static_cast<std::uint64_t>(geometry.first_element(rows.begin) * value_bytes);
  if (rows.count() == geometry.inner) return writer.write(name, first, bytes_of(columns));
  const auto piece = static_cast<std::size_t>(rows.count());
  for (std::int64_t column = 0; column < geometry.columns; ++column) {
    const std::span<const float> part(columns.data() + static_cast<std::size_t>(column) * piece, piece);
    const auto offset = first + static_cast<std::uint64_t>(column * geometry.inner * value_bytes);
    if (Result<void> written = writer.write(name, offset, bytes_of(part)); !written) return written;
  }
  return {};
}

}  // namespace

Result<void> write_in_original_order(SafetensorsWriter& writer, const std::string& name,
                                     const portable::Geometry& geometry, RowRange rows, std::span<const float> values) {
  if (geometry.inner == 1) {
    return writer.write(name, static_cast<std::uint64_t>(rows.begin * geometry.columns * value_bytes),
                        bytes_of(values));
  }
  const float* at = values.data();
  for (std::int64_t begin = rows.begin; begin < rows.end;) {
    const std::int64_t end = std::min(rows.end, (begin / geometry.inner + 1) * geometry.inner);
    if (Result<void> written = write_group(writer, name, geometry, {begin, end}, at); !written) return written;
    at += (end - begin) * geometry.columns;
    begin = end;
  }
  return {};
}

}  // namespace fp4proof::cli
