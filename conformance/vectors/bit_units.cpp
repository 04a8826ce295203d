#include "conformance/vectors/bit_units.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace fp4proof {

namespace {

constexpr std::size_t stretch_bytes = 4096;  // a multiple of every unit

}  // namespace

std::uint64_t unit_at(Bytes bytes, std::uint64_t index, std::uint32_t unit_bits) {
  if (unit_bits == 4) return (bytes[index / 2] >> (4 * (index % 2))) & 0xFU;
  std::uint64_t unit = 0;
  std::memcpy(&unit, bytes.data() + index * (unit_bits / 8), unit_bits / 8);
  return unit;
}

BitDifference compare_units(Bytes a, Bytes b, std::uint32_t unit_bits) {
  BitDifference difference;
  for (std::size_t begin = 0; begin < a.size(); begin += stretch_bytes) {
    const std::size_t size = std::min(stretch_bytes, a.size() - begin);
    if (std::memcmp(a.data() + begin, b.data() + begin, size) == 0) continue;
    const std::uint64_t end = (begin + size) * 8 / unit_bits;
    for (std::uint64_t index = begin * 8 / unit_bits; index < end; ++index) {
      if (unit_at(a, index, unit_bits) == unit_at(b, index, unit_bits)) continue;
      if (difference.count == 0) difference.first = index;
      ++difference.count;
    }
  }
  return difference;
}

}  // namespace fp4proof
