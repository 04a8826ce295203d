// Right numbers at wrong places.

#include <array>

#include "tests/plugin/kernels/faults.h"

namespace kernels {

namespace {

std::size_t even_high(const Coded& c, std::size_t row, std::size_t column) { return (row * c.columns + column) ^ 1U; }

/// Byte j of a block holds elements j and j + half.
std::size_t split(const Coded& c, std::size_t row, std::size_t column) {
  const std::size_t half = c.length / 2;
  const std::size_t i = column % c.length;
  return row * c.columns + column - i + i % half * 2 + i / half;
}

/// Column after column.
std::size_t transposed(const Coded& c, std::size_t row, std::size_t column) { return column * c.rows + row; }
std::size_t column_major(const Coded& c, std::size_t row, std::size_t block) { return block * c.rows + row; }

/// Tiles of 128 x 4. What lies behind the end of the tensor is cut off.
std::size_t tiled(const Coded& c, std::size_t row, std::size_t block) {
  const std::size_t tile = row / 128 * ((c.blocks() + 3) / 4) + block / 4;
  return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + block % 4;
}

constexpr std::array table = {
    Fault{"first-element-high", [](Kernel& k) { k.code_place = even_high; }},
    Fault{"first-element-high-decode", [](Kernel& k) { k.code_place = even_high; }},
    Fault{"split-nibbles", [](Kernel& k) { k.code_place = split; }},
    Fault{"split-nibbles-decode", [](Kernel& k) { k.code_place = split; }},
    Fault{"codes-transposed", [](Kernel& k) { k.code_place = transposed; }},
    Fault{"scales-column-major", [](Kernel& k) { k.scale_place = column_major; }},
    Fault{"scales-tiled",
          [](Kernel& k) {
            k.scale_place = tiled;
            k.clears_scales = true;
          }},
    Fault{"axis-ignored", [](Kernel& k) { k.ignores_axis = true; }},
    Fault{"padding-not-zero", [](Kernel& k) { k.padding = 1; }},
    Fault{"odd-tail-dropped", [](Kernel& k) { k.forgets_tail = true; }},
};

}  // namespace

std::span<const Fault> place_faults() { return table; }

}  // namespace kernels
