#pragma once
// Tensors larger than memory are worked on in chunks of rows.

#include <cstdint>

#include "formats/spec.h"
#include "reference/portable/geometry.h"

namespace fp4proof::cli {

/// Rows [begin, end) of a geometry.
struct RowRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t count() const { return end - begin; }
};

/// The chunk that starts at row `begin`: about 16 MiB of binary32 values, at least one row (one row of tiles in 2D).
/// It ends where a tile or matrix ends, so quantize_rows() takes it, and holds whole groups of interleaved rows where
/// those are small.
RowRange next_chunk(const Profile& profile, const portable::Geometry& geometry, std::int64_t begin);

/// The same bytes as shorter rows: where the rows of a 1D profile are longer than a chunk, contiguous, and made of
/// whole blocks, they are cut into equal parts. Codes and scales in canonical packing do not change.
portable::Geometry with_short_rows(const Profile& profile, const portable::Geometry& geometry);

}  // namespace fp4proof::cli
