#pragma once
// How a tensor is cut into blocks, and the shape of its codes and scales.

#include <cstdint>
#include <span>
#include <vector>

#include "formats/result.h"
#include "formats/spec.h"

namespace fp4proof::portable {

/// What to do where the block axis is no multiple of the block length.
enum class Tail : std::uint8_t {
  error,  ///< refuse
  pad,    ///< continue with zeros; codes and scales cover the padded length
};

/// A tensor cut along `axis`. The block axis is made the last one ("column"); all other axes, in their order, are
/// flattened to rows. Row r starts at element offset
///     (r / inner) * length * inner + (r % inner)
/// of the input and its elements stand `inner` apart.
///
/// Codes: row-major [rows, padded_columns], two 4-bit codes a byte (even column in the low nibble) or one wider code a
/// byte. Scales: row-major [rows, blocks], one byte (MX, NVFP4) or the four little-endian bytes of the scale word
/// (HiF4). A 2D profile cuts each matrix of `matrix_rows` rows into tiles; every row of a tile stores the tile's scale,
/// and rows missing from the last tile (Tail::pad) are taken as zeros and not stored.
struct Geometry {
  std::vector<std::int64_t> shape;  ///< the logical shape, block axis last
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t padded_columns = 0;
  std::int64_t inner = 1;
  std::int64_t matrix_rows = 1;
  int axis = 0;  ///< the block axis in the input, counted from the front
  std::int64_t blocks = 0;
  std::int64_t code_bytes_per_row = 0;
  std::int64_t scale_bytes_per_row = 0;

  std::int64_t code_bytes() const { return rows * code_bytes_per_row; }
  std::int64_t scale_bytes() const { return rows * scale_bytes_per_row; }
  std::vector<std::int64_t> codes_shape() const;   ///< shape of the U8 code tensor
  std::vector<std::int64_t> scales_shape() const;  ///< shape of the U8 scale tensor; HiF4 has a last axis of 4
  std::int64_t first_element(std::int64_t row) const { return (row / inner) * columns * inner + row % inner; }
};

/// Cuts a tensor of `shape` along `axis` (negative counts from the end). A zero-dimensional tensor counts as one row of
/// one element. Fails with ErrorKind::usage on an axis out of range, on a length that is no multiple of the block under
/// Tail::error, and on a 2D profile whose matrix rows are no multiple of the tile.
Result<Geometry> cut_into_blocks(const Profile& profile, std::span<const std::int64_t> shape, int axis, Tail tail);

/// The geometry of an already quantized tensor from its logical shape (block axis last) and original axis.
Result<Geometry> geometry_of_quantized(const Profile& profile, std::span<const std::int64_t> shape, int axis);

}  // namespace fp4proof::portable
