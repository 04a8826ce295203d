#pragma once
// Where a block stands in its tensor. Internal to the explanation.

#include <cstdint>

#include "formats/result.h"
#include "formats/spec.h"
#include "reference/portable/geometry.h"

namespace fp4proof::explain {

/// Row and first column of a block in the geometry, and how much of it the tensor has.
struct Corner {
  std::int64_t row;
  std::int64_t column;
  std::int64_t rows;
  std::int64_t columns;
};

/// `usage` error for a block that the tensor does not have. Blocks count from 0, along a row first, in 2D tiles along a
/// band first.
Result<void> check_block(const Profile& profile, const portable::Geometry& geometry, std::int64_t block);

/// The corner of a block that check_block() accepts.
Corner corner_of(const Profile& profile, const portable::Geometry& geometry, std::int64_t block);

}  // namespace fp4proof::explain
