#pragma once
// Where the scale of a block stands in the scale buffer of a tensor. Offsets count bytes. Every layout is a bijection
// between the bytes of the scales and a part of the buffer; the other bytes are padding, hold scale_padding, and no
// result may depend on them.
//
//   row_major    (row, col), col fastest; no padding. Any scale size.
//   tiled_128x4  one-byte scales. Rows are padded to a multiple of 128, columns to a multiple of 4. Tiles of 128 x 4
//                scales (512 bytes) follow one another, columns fastest. Byte in a tile of row r, column c:
//                (r % 32) * 16 + (r / 32) * 4 + c.
//   patches_16   HiF4's four-byte scales. Rows are padded to a multiple of 16. Patches of 16 rows x one column
//                (64 bytes) follow one another, columns fastest. Byte in a patch of row r: 2r E6M2, 2r + 1 level 2,
//                32 + 2r level 3 low, 32 + 2r + 1 level 3 high.

#include <cstddef>
#include <cstdint>

#include "formats/host_device.h"
#include "formats/spec.h"

namespace fp4proof {

inline constexpr std::uint8_t scale_padding = 0;

/// The scales of one tensor: `rows` rows of `cols` scales (blocks along the reduction axis), `bytes` bytes each
/// (see scale_bytes(Family)).
struct ScaleGrid {
  std::size_t rows;
  std::size_t cols;
  std::size_t bytes;
};

/// What a byte of the scale buffer is: byte `byte` of the scale at (row, col), or padding, where row, col and byte
/// say which scale would stand there if the tensor were larger.
struct ScalePlace {
  std::size_t row;
  std::size_t col;
  std::size_t byte;
  bool padding;
  constexpr bool operator==(const ScalePlace&) const = default;
};

/// Whether a layout is defined for scales of `bytes` bytes.
FP4PROOF_HD constexpr bool scale_layout_fits(ScaleLayout layout, std::size_t bytes) {
  switch (layout) {
    case ScaleLayout::row_major: return bytes == 1 || bytes == 4;
    case ScaleLayout::tiled_128x4: return bytes == 1;
    case ScaleLayout::patches_16: return bytes == 4;
  }
  return false;
}

namespace scale_layout_detail {

inline constexpr std::size_t tile_rows = 128;
inline constexpr std::size_t tile_cols = 4;
inline constexpr std::size_t tile_row_group = 32;
inline constexpr std::size_t patch_rows = 16;
inline constexpr std::size_t patch_half = 2 * patch_rows;

FP4PROOF_HD constexpr std::size_t ceil_div(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit; }

}  // namespace scale_layout_detail

/// Bytes of the scale buffer, padding included.
FP4PROOF_HD constexpr std::size_t scale_buffer_bytes(ScaleLayout layout, const ScaleGrid& grid) {
  using namespace scale_layout_detail;
  switch (layout) {
    case ScaleLayout::row_major: return grid.rows * grid.cols * grid.bytes;
    case ScaleLayout::tiled_128x4:
      return ceil_div(grid.rows, tile_rows) * ceil_div(grid.cols, tile_cols) * tile_rows * tile_cols;
    case ScaleLayout::patches_16: return ceil_div(grid.rows, patch_rows) * grid.cols * patch_rows * 4;
  }
  return 0;
}

/// Offset of byte `byte` of the scale at (row, col), row < rows, col < cols, byte < bytes.
FP4PROOF_HD constexpr std::size_t scale_offset(ScaleLayout layout, const ScaleGrid& grid, std::size_t row,
                                               std::size_t col, std::size_t byte = 0) {
  using namespace scale_layout_detail;
  switch (layout) {
    case ScaleLayout::row_major: return (row * grid.cols + col) * grid.bytes + byte;
    case ScaleLayout::tiled_128x4: {
      const std::size_t tile = row / tile_rows * ceil_div(grid.cols, tile_cols) + col / tile_cols;
      const std::size_t r = row % tile_rows;
      return tile * tile_rows * tile_cols + r % tile_row_group * 16 + r / tile_row_group * tile_cols + col % tile_cols;
    }
    case ScaleLayout::patches_16: {
      const std::size_t patch = row / patch_rows * grid.cols + col;
      return patch * 2 * patch_half + byte / 2 * patch_half + row % patch_rows * 2 + byte % 2;
    }
  }
  return 0;
}

/// The inverse of scale_offset: what stands at `offset` < scale_buffer_bytes(layout, grid).
FP4PROOF_HD constexpr ScalePlace scale_place(ScaleLayout layout, const ScaleGrid& grid, std::size_t offset) {
  using namespace scale_layout_detail;
  ScalePlace place{0, 0, 0, false};
  switch (layout) {
    case ScaleLayout::row_major: {
      const std::size_t scale = offset / grid.bytes;
      place = {scale / grid.cols, scale % grid.cols, offset % grid.bytes, false};
      break;
    }
    case ScaleLayout::tiled_128x4: {
      const std::size_t tiles_across = ceil_div(grid.cols, tile_cols);
      const std::size_t tile = offset / (tile_rows * tile_cols);
      const std::size_t within = offset % (tile_rows * tile_cols);
      place.row = tile / tiles_across * tile_rows + within / tile_cols % 4 * tile_row_group + within / 16;
      place.col = tile % tiles_across * tile_cols + within % tile_cols;
      break;
    }
    case ScaleLayout::patches_16: {
      const std::size_t patch = offset / (2 * patch_half);
      const std::size_t within = offset % (2 * patch_half);
      place.row = patch / grid.cols * patch_rows + within % patch_half / 2;
      place.col = patch % grid.cols;
      place.byte = within / patch_half * 2 + within % 2;
      break;
    }
  }
  place.padding = place.row >= grid.rows || place.col >= grid.cols;
  return place;
}

}  // namespace fp4proof
