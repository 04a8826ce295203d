#pragma once
// How block products become one number, a tile at a time. Every class of sums has the same two functions: add one
// block's dots with the scales of its rows, in block order; then read the sums.

#include <array>
#include <cstdint>

#include "reference/portable/gemm_block_dots.h"
#include "reference/portable/gemm_tile.h"
#include "reference/portable/gemm_wide_sum.h"

namespace fp4proof::portable {

using TileValues = std::array<float, tile_size>;

/// Sums in chunks: a new sum every `steps_per_chunk` steps, chunk sums added in order, the first one copied.
class ChunkedSums {
 public:
  explicit ChunkedSums(std::int64_t steps_per_chunk) : steps_per_chunk_(steps_per_chunk) {}

  /// The sums of the open chunk, for one step to add to.
  float* open() { return sums_.data(); }
  void end_step();
  const float* finish();

 private:
  void close_chunk();

  alignas(64) TileValues sums_{};
  alignas(64) TileValues totals_{};
  std::int64_t steps_per_chunk_;
  std::int64_t steps_in_chunk_ = 0;
  bool is_first_chunk_ = true;
};

/// Binary32 sums, block after block: acc = RN32(acc + RN32(product)), in chunks of blocks.
class SequentialSums {
 public:
  explicit SequentialSums(std::int64_t blocks_per_chunk) : chunks_(blocks_per_chunk) {}

  void add(const TileDots& dots, const double* scales_a, const double* scales_b);
  const float* finish() { return chunks_.finish(); }

 private:
  ChunkedSums chunks_;
};

/// Exact sums, one rounding at the end.
class ExactSums {
 public:
  void add(const TileDots& dots, const double* scales_a, const double* scales_b);
  /// The same with every product times RN32(weight_a * weight_b) of its row and column.
  void add_weighted(const TileDots& dots, const double* scales_a, const double* scales_b, const float* weights_a,
                    const float* weights_b);
  const float* finish();

 private:
  std::array<WideSum, tile_size> sums_{};
  TileValues values_{};
};

/// Where the blocks of a tile stand among the slices of K, and the weights of the rows of the tile there.
class SliceCursor {
 public:
  /// For each slice `weights_a` holds tile_rows weights, `weights_b` tile_columns.
  SliceCursor(std::int64_t blocks_per_slice, const float* weights_a, const float* weights_b)
      : blocks_per_slice_(blocks_per_slice), weights_a_(weights_a), weights_b_(weights_b) {}

  const float* weights_a() const { return weights_a_; }
  const float* weights_b() const { return weights_b_; }

  bool is_empty() const { return blocks_in_slice_ == 0; }
  bool is_full() const { return blocks_in_slice_ == blocks_per_slice_; }
  void count_block() { ++blocks_in_slice_; }
  void next() {
    blocks_in_slice_ = 0;
    weights_a_ += tile_rows;
    weights_b_ += tile_columns;
  }

 private:
  std::int64_t blocks_per_slice_;
  std::int64_t blocks_in_slice_ = 0;
  const float* weights_a_;
  const float* weights_b_;
};

/// Binary32 sums, slice after slice: part = the sequential sum of the slice's block products, acc = RN32(acc +
/// RN32(part * weight)), in chunks of slices.
class SlicedSums {
 public:
  SlicedSums(std::int64_t slices_per_chunk, const SliceCursor& slice) : chunks_(slices_per_chunk), slice_(slice) {}

  void add(const TileDots& dots, const double* scales_a, const double* scales_b);
  const float* finish();

 private:
  void close_slice();

  alignas(64) TileValues part_{};
  ChunkedSums chunks_;
  SliceCursor slice_;
};

/// Exact sums of weighted block products, one rounding at the end.
class ExactSlicedSums {
 public:
  explicit ExactSlicedSums(const SliceCursor& slice) : slice_(slice) {}

  void add(const TileDots& dots, const double* scales_a, const double* scales_b);
  const float* finish() { return sums_.finish(); }

 private:
  ExactSums sums_;
  SliceCursor slice_;
};

}  // namespace fp4proof::portable
