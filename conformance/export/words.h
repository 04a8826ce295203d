#pragma once
// Columns as sequences of words: what stands at one address of a memory, or in one cell of an array.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/export/column.h"

namespace fp4proof::exports {

/// What a word is.
enum class Granularity : std::uint8_t {
  element,  ///< one code, one scale, one number
  packed,   ///< one element of the tensor as it stands in the set: a byte, or 32 bits
  block,    ///< the elements of one block, the first in the lowest bits; columns without blocks as `element`
};

inline constexpr std::string_view granularity_names[] = {"element", "packed", "block"};

inline std::string_view name_of(Granularity granularity) {
  return granularity_names[static_cast<std::size_t>(granularity)];
}

/// A column cut into words. Word w holds `slots` numbers of `slot_bits` each, the first in the lowest bits:
/// numbers[w * slots] .. numbers[w * slots + slots - 1].
struct Words {
  int slot_bits = 0;
  std::uint64_t slots = 1;
  std::vector<std::uint64_t> shape;  ///< of one case, in words; row-major, the last dimension fastest
  std::vector<std::uint64_t> numbers;

  std::uint64_t width() const { return static_cast<std::uint64_t>(slot_bits) * slots; }
  std::uint64_t per_case() const;
  std::uint64_t count() const { return numbers.size() / slots; }
  std::string_view packing() const;

  /// Word `index` as hexadecimal digits, as many as its width needs, highest first.
  std::string hex(std::uint64_t index) const;
};

/// Cuts a column of `group`. Under `block` every column with blocks has the block axis last, and where the axis is no
/// multiple of the block, zeros fill the last block; so the same address means the same block in each of them.
Words words_of(const GroupColumns& group, const Column& column, Granularity granularity);

}  // namespace fp4proof::exports
