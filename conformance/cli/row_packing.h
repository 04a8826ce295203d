#pragma once
// Rows of codes and scales between canonical packing and the profile's own.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "conformance/cli/row_chunks.h"
#include "conformance/vectors/bytes.h"
#include "formats/result.h"
#include "formats/spec.h"
#include "reference/portable/geometry.h"

namespace fp4proof::cli {

/// Canonical code rows to the profile's nibble order, in place.
void pack_code_rows(const Profile& profile, std::span<std::uint8_t> codes);

/// The inverse of pack_code_rows.
void unpack_code_rows(const Profile& profile, std::span<std::uint8_t> codes);

/// Puts canonical scale rows, which come in order, into the profile's micro-exponent order and scale layout. Memory:
/// one panel (the rows of one tile or patch).
class ScalePacker {
 public:
  /// Receives finished bytes and their offset in the scale buffer.
  using Emit = std::function<Result<void>(std::uint64_t offset, Bytes bytes)>;

  ScalePacker(const Profile& profile, const portable::Geometry& geometry, Emit emit);

  /// Takes the next rows.
  Result<void> add(Bytes scales);

 private:
  Result<void> emit_panel();

  const Profile& profile_;
  const portable::Geometry& geometry_;
  Emit emit_;
  std::int64_t panel_rows_;
  std::int64_t row_ = 0;
  std::vector<std::uint8_t> panel_;
};

/// The inverse: reads rows `range` out of a whole packed scale buffer into canonical rows.
void unpack_scale_rows(const Profile& profile, const portable::Geometry& geometry, RowRange range, Bytes buffer,
                       std::span<std::uint8_t> scales);

}  // namespace fp4proof::cli
