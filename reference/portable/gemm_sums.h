#pragma once
// How block products become one number, a tile at a time. Both classes have the same two functions: add one block's
// dots with the scales of its rows, in block order; then read the sums.

#include <array>
#include <cstdint>

#include "reference/portable/gemm_block_dots.h"
#include "reference/portable/gemm_tile.h"
#include "reference/portable/gemm_wide_sum.h"

namespace fp4proof::portable {

using TileValues = std::array<float, tile_size>;

/// Binary32 sums, block after block: acc = RN32(acc + RN32(product)), a new acc every `blocks_per_chunk` blocks, chunk
/// sums added in order, the first one copied.
class SequentialSums {
 public:
  explicit SequentialSums(std::int64_t blocks_per_chunk) : blocks_per_chunk_(blocks_per_chunk) {}

  void add(const TileDots& dots, const double* scales_a, const double* scales_b);
  const float* finish();

 private:
  void close_chunk();

  alignas(64) TileValues sums_{};
  alignas(64) TileValues totals_{};
  std::int64_t blocks_per_chunk_;
  std::int64_t blocks_in_chunk_ = 0;
  bool is_first_chunk_ = true;
};

/// Exact sums, one rounding at the end.
class ExactSums {
 public:
  void add(const TileDots& dots, const double* scales_a, const double* scales_b);
  const float* finish();

 private:
  std::array<WideSum, tile_size> sums_{};
  TileValues values_{};
};

}  // namespace fp4proof::portable
