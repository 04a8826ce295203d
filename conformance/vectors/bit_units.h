#pragma once
// Where two byte strings differ, counted in units of a few bits.

#include <cstdint>

#include "conformance/vectors/bytes.h"

namespace fp4proof {

/// The differing units of two strings.
struct BitDifference {
  std::uint64_t count = 0;
  std::uint64_t first = 0;  ///< index of the first one, where there is any
};

/// Compares strings of equal length in units of 4 (low nibble first), 8, 16, 32 or 64 bits.
BitDifference compare_units(Bytes a, Bytes b, std::uint32_t unit_bits);

/// The unit at `index`, little-endian.
std::uint64_t unit_at(Bytes bytes, std::uint64_t index, std::uint32_t unit_bits);

}  // namespace fp4proof
