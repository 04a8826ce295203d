#include "conformance/explain/block_corner.h"

#include <fmt/format.h>

#include <algorithm>

namespace fp4proof::explain {

namespace {

std::int64_t block_count(const Profile& profile, const portable::Geometry& geometry) {
  const std::int64_t tile_rows = profile.block.rows;
  const std::int64_t matrices = geometry.matrix_rows == 0 ? 0 : geometry.rows / geometry.matrix_rows;
  const std::int64_t bands = (geometry.matrix_rows + tile_rows - 1) / tile_rows;
  return profile.block.is_2d() ? matrices * bands * geometry.blocks : geometry.rows * geometry.blocks;
}

}  // namespace

Result<void> check_block(const Profile& profile, const portable::Geometry& geometry, std::int64_t block) {
  const std::int64_t count = block_count(profile, geometry);
  if (block >= 0 && block < count) return {};
  return Error{ErrorKind::usage, fmt::format("block {} is not one of the {} blocks of the tensor{}", block, count,
                                             count > 0 ? fmt::format(" (0..{})", count - 1) : "")};
}

Corner corner_of(const Profile& profile, const portable::Geometry& geometry, std::int64_t block) {
  const std::int64_t column = block % geometry.blocks * profile.block.cols;
  const std::int64_t columns = std::min<std::int64_t>(profile.block.cols, geometry.columns - column);
  const std::int64_t band = block / geometry.blocks;
  if (!profile.block.is_2d()) return {band, column, 1, columns};
  const std::int64_t tile_rows = profile.block.rows;
  const std::int64_t bands = (geometry.matrix_rows + tile_rows - 1) / tile_rows;
  const std::int64_t row_in_matrix = band % bands * tile_rows;
  return {band / bands * geometry.matrix_rows + row_in_matrix, column,
          std::min(tile_rows, geometry.matrix_rows - row_in_matrix), columns};
}

}  // namespace fp4proof::explain
