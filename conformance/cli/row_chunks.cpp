#include "conformance/cli/row_chunks.h"

#include <algorithm>

namespace fp4proof::cli {

namespace {

constexpr std::int64_t chunk_values = std::int64_t{16 << 20} / 4;

/// The largest divisor of `count` that is at most `most`.
std::int64_t largest_divisor(std::int64_t count, std::int64_t most) {
  for (std::int64_t divisor = std::min(count, most); divisor > 1; --divisor) {
    if (count % divisor == 0) return divisor;
  }
  return 1;
}

}  // namespace

RowRange next_chunk(const Profile& profile, const portable::Geometry& geometry, std::int64_t begin) {
  const std::int64_t wanted = std::max<std::int64_t>(1, chunk_values / std::max<std::int64_t>(1, geometry.columns));
  const std::int64_t tile_rows = profile.block.rows;
  const std::int64_t period = profile.block.is_2d() ? geometry.matrix_rows : geometry.inner;
  std::int64_t end = 0;
  if (period <= wanted) {
    end = begin + wanted / period * period;
  } else {
    const std::int64_t step = std::max(tile_rows, wanted / tile_rows * tile_rows);
    end = begin + std::min(step, period - begin % period);
  }
  return {begin, std::min(end, geometry.rows)};
}

portable::Geometry with_short_rows(const Profile& profile, const portable::Geometry& geometry) {
  const std::int64_t width = profile.block.cols;
  const bool can_cut = !profile.block.is_2d() && geometry.inner == 1 && geometry.columns % width == 0;
  if (!can_cut || geometry.columns <= chunk_values) return geometry;
  const std::int64_t blocks = largest_divisor(geometry.blocks, chunk_values / width);
  const std::int64_t parts = geometry.blocks / blocks;
  portable::Geometry cut = geometry;
  cut.rows *= parts;
  cut.columns = blocks * width;
  cut.padded_columns = cut.columns;
  cut.blocks = blocks;
  cut.code_bytes_per_row /= parts;
  cut.scale_bytes_per_row /= parts;
  cut.shape = {cut.rows, cut.columns};
  cut.matrix_rows = cut.rows;
  cut.axis = 1;
  return cut;
}

}  // namespace fp4proof::cli
