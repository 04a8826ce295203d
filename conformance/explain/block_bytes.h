#pragma once
// The stored form of one row of a block.

#include <cstdint>
#include <vector>

#include "conformance/explain/explanation.h"

namespace fp4proof::explain {

struct RowBytes {
  std::vector<std::uint8_t> scale;  ///< 1 byte, or HiF4's 4 in the profile's micro order
  std::vector<std::uint8_t> codes;  ///< in the profile's nibble order, or one code a byte
  bool operator==(const RowBytes&) const = default;
};

/// Row `row` of a block that was not refused.
RowBytes row_bytes(const Explanation& explanation, int row);

}  // namespace fp4proof::explain
