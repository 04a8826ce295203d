#include "conformance/export/words.h"

#include <fmt/format.h>

#include <iterator>

namespace fp4proof::exports {

namespace {

/// The little-endian numbers of `bits` (8, 16, 32 or 64) that the bytes hold.
std::vector<std::uint64_t> little_endian(Bytes bytes, int bits) {
  const auto size = static_cast<std::size_t>(bits / 8);
  std::vector<std::uint64_t> numbers(bytes.size() / size);
  for (std::size_t i = 0; i < bytes.size(); ++i) numbers[i / size] |= std::uint64_t{bytes[i]} << (8 * (i % size));
  return numbers;
}

std::vector<std::uint64_t> nibbles(Bytes bytes) {
  std::vector<std::uint64_t> codes;
  codes.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    codes.push_back(byte & 0xFU);
    codes.push_back(byte >> 4);
  }
  return codes;
}

Words element_words(const Column& column) {
  return {column.slot_bits, 1, column.shape,
          column.slot_bits == 4 ? nibbles(column.bytes) : little_endian(column.bytes, column.slot_bits)};
}

Words packed_words(const Column& column) {
  const int bits = static_cast<int>(bits_of(column.stored_dtype));
  return {bits, 1, column.stored_shape, little_endian(column.bytes, bits)};
}

/// Rows of elements with the block axis last, cut into blocks; zeros where the last one is not full.
struct BlockCutter {
  std::uint64_t rows;     // of all cases
  std::uint64_t columns;  // elements of a row
  std::uint64_t blocks;   // of a row
  std::uint64_t length;   // of a block

  template <class Place>
  std::vector<std::uint64_t> cut(const std::vector<std::uint64_t>& elements, const Place& place) const {
    std::vector<std::uint64_t> numbers(rows * blocks * length);
    for (std::uint64_t row = 0; row < rows; ++row) {
      for (std::uint64_t column = 0; column < columns; ++column) {
        numbers[row * blocks * length + column] = elements[place(row, column)];
      }
    }
    return numbers;
  }
};

Words block_words(const GroupColumns& group, const Column& column) {
  Words words = element_words(column);
  words.slots = group.effective.block.cols;
  const portable::Geometry& geometry = group.input_geometry;
  if (column.blocks == BlockAxis::input) {
    const auto rows = static_cast<std::uint64_t>(geometry.rows);
    const auto blocks = static_cast<std::uint64_t>(geometry.blocks);
    const auto columns = static_cast<std::uint64_t>(geometry.columns);
    const BlockCutter cutter{group.cases() * rows, columns, blocks, words.slots};
    words.numbers = cutter.cut(words.numbers, [&](std::uint64_t row, std::uint64_t at) {
      const std::int64_t first = geometry.first_element(static_cast<std::int64_t>(row % rows));
      const std::uint64_t within = static_cast<std::uint64_t>(first) + at * static_cast<std::uint64_t>(geometry.inner);
      return row / rows * rows * columns + within;
    });
    words.shape = {rows, blocks};
    return words;
  }
  const std::uint64_t columns = words.shape.back();
  const std::uint64_t blocks = (columns + words.slots - 1) / words.slots;
  const BlockCutter cutter{words.numbers.size() / columns, columns, blocks, words.slots};
  words.numbers = cutter.cut(words.numbers, [&](std::uint64_t row, std::uint64_t at) { return row * columns + at; });
  words.shape.back() = blocks;
  return words;
}

}  // namespace

std::uint64_t Words::per_case() const {
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) count *= extent;
  return count;
}

std::string_view Words::packing() const {
  return slots == 1 ? "one number a word" : "number i of a word in bits i * slot_bits and up";
}

std::string Words::hex(std::uint64_t index) const {
  std::string digits;
  for (std::uint64_t slot = slots; slot-- > 0;) {
    fmt::format_to(std::back_inserter(digits), "{:0{}x}", numbers[index * slots + slot], slot_bits / 4);
  }
  return digits;
}

Words words_of(const GroupColumns& group, const Column& column, Granularity granularity) {
  if (granularity == Granularity::packed) return packed_words(column);
  if (granularity == Granularity::block && column.blocks != BlockAxis::none) return block_words(group, column);
  return element_words(column);
}

}  // namespace fp4proof::exports
