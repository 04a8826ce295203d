#pragma once
// What the packed MXFP4 kernels are told, which tile of the matrix a thread block takes, and where scales go.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "formats/scale_layout.h"
#include "gpu/e2m1_packed.h"
#include "gpu/mx_packed_lanes.h"

namespace fp4proof::gpu::mx_packed {

/// Codes and scales of one orientation of the matrix.
struct Target {
  std::uint8_t* codes;
  std::uint8_t* scales;
  std::int64_t lines;
  std::int64_t blocks;  // of a line
  std::int64_t matrix_scale_bytes;
};

struct Task {
  const std::uint8_t* input;
  std::int64_t rows;
  std::int64_t columns;
  PackedScaleRule rule;
};

/// Distances inside of what a thread block works on fit 32 bits: one register, added to an address that the whole
/// block shares.
inline constexpr std::int64_t most_extent = std::int64_t{1} << 24;

template <class Word>
__device__ inline Word load_stream(const std::uint8_t* base, std::uint32_t distance) {
  return __ldcs(reinterpret_cast<const Word*>(base + distance));
}

template <class Word>
__device__ inline void store_stream(std::uint8_t* base, std::uint32_t distance, const Word& word) {
  __stcs(reinterpret_cast<Word*>(base + distance), word);
}

template <ScaleLayout Layout>
__device__ inline std::uint8_t* scale_at(const Target& to, std::int64_t matrix, std::int64_t line, std::int64_t index) {
  const ScaleGrid grid = {static_cast<std::size_t>(to.lines), static_cast<std::size_t>(to.blocks), 1};
  return to.scales + matrix * to.matrix_scale_bytes +
         scale_offset(Layout, grid, static_cast<std::size_t>(line), static_cast<std::size_t>(index));
}

/// Scales of a group of lines that starts at a multiple of 32 and crosses no multiple of 128, from a block that is a
/// multiple of 4 on: four blocks are a word.
template <ScaleLayout Layout>
class ScaleWords {
 public:
  __device__ ScaleWords(const Target& to, std::int64_t matrix, std::int64_t line, std::int64_t index)
      : to_(to), matrix_(matrix), line_(line), index_(index), base_(scale_at<Layout>(to, matrix, line, index)) {}

  /// Stores word `word` of line `line` of the group. Not `Whole`: where the matrix has the line, and those of the four
  /// blocks that it has.
  template <bool Whole>
  __device__ void store(std::uint32_t line, std::uint32_t word, std::uint32_t codes) const {
    if constexpr (Whole) {
      const std::uint32_t distance = Layout == ScaleLayout::row_major
                                         ? line * static_cast<std::uint32_t>(to_.blocks) + 4 * word
                                         : line % 32 * 16 + line / 32 * 4 + 512 * word;
      *reinterpret_cast<std::uint32_t*>(base_ + distance) = codes;
    } else if (line_ + line < to_.lines) {
#pragma unroll 1
      for (int i = 0; i < 4 && index_ + 4 * word + i < to_.blocks; ++i) {
        *scale_at<Layout>(to_, matrix_, line_ + line, index_ + 4 * word + i) =
            static_cast<std::uint8_t>(codes >> (8 * i));
      }
    }
  }

 private:
  const Target& to_;
  std::int64_t matrix_;
  std::int64_t line_;
  std::int64_t index_;
  std::uint8_t* base_;
};

/// The tile of a thread block: its first row and column.
struct Tile {
  std::int64_t matrix;
  std::int64_t row;
  std::int64_t column;
  bool whole;  // inside the matrix
};

/// Tiles in bands of 2^log2_band tiles across: blockIdx.x walks a band row of tiles by row of tiles, y the bands, z the
/// matrices. Tiles that share lines of memory come soon after one another both ways, and nothing is divided.
template <int Columns, int Rows>
__device__ inline Tile tile_of_block(const Task& task, unsigned log2_band) {
  const std::int64_t row = std::int64_t{blockIdx.x >> log2_band} * Rows;
  const unsigned across = (blockIdx.y << log2_band) + (blockIdx.x & ((1U << log2_band) - 1U));
  const std::int64_t column = std::int64_t{across} * Columns;
  return {blockIdx.z, row, column, row + Rows <= task.rows && column + Columns <= task.columns};
}

__device__ inline const std::uint8_t* input_at(const Task& task, const Tile& tile) {
  return task.input + ((tile.matrix * task.rows + tile.row) * task.columns + tile.column) * 2;
}

/// Codes of lines that are rows of the input: element by element, like the input.
__device__ inline std::uint8_t* codes_at(const Task& task, const Target& to, const Tile& tile) {
  return to.codes + ((tile.matrix * task.rows + tile.row) * task.columns + tile.column) / 2;
}

}  // namespace fp4proof::gpu::mx_packed
