#pragma once
// A tile of C: the unit of work of the GEMM. Operands are regrouped in panels so that the rows which meet in one tile
// stand side by side for each k.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/strict_math.h"

namespace fp4proof::portable {

inline constexpr int tile_rows = 8;      ///< rows of A, rows of the tile
inline constexpr int tile_columns = 32;  ///< rows of B, columns of the tile
inline constexpr int tile_size = tile_rows * tile_columns;

/// A matrix of `rows` x `depth` cut into panels of `width` rows, each panel depth-major: the `width` values of one k
/// are neighbours. Rows that the last panel lacks are zero.
template <class T>
class Panels {
 public:
  Panels() = default;
  Panels(std::int64_t rows, std::int64_t depth, int width)
      : depth_(depth), width_(width), values_(static_cast<std::size_t>((rows + width - 1) / width * width * depth)) {}

  T& at(std::int64_t row, std::int64_t k) {
    return values_[static_cast<std::size_t>((row / width_ * depth_ + k) * width_ + row % width_)];
  }
  /// The `width` values of one panel from k on.
  const T* panel(std::int64_t index, std::int64_t k) const { return values_.data() + (index * depth_ + k) * width_; }

 private:
  std::int64_t depth_ = 0;
  std::int64_t width_ = 1;
  std::vector<T> values_;
};

/// The tiles that cover C, in an order in which neighbours share the panel of B.
class Tiles {
 public:
  Tiles(std::int64_t m, std::int64_t n) : m_(m), n_(n), tiles_down_((m + tile_rows - 1) / tile_rows) {}

  std::int64_t count() const { return tiles_down_ * ((n_ + tile_columns - 1) / tile_columns); }
  std::int64_t panel_of_a(std::int64_t tile) const { return tile % tiles_down_; }
  std::int64_t panel_of_b(std::int64_t tile) const { return tile / tiles_down_; }

  /// Copies what exists of a finished tile into C ([m, n] row-major), NaN made canonical.
  void store(std::int64_t tile, const float* values, float* c) const {
    const std::int64_t first_row = panel_of_a(tile) * tile_rows;
    const std::int64_t first_column = panel_of_b(tile) * tile_columns;
    for (std::int64_t i = 0; i < tile_rows && first_row + i < m_; ++i) {
      for (std::int64_t j = 0; j < tile_columns && first_column + j < n_; ++j) {
        c[(first_row + i) * n_ + first_column + j] = strict::canonicalise_nan(values[i * tile_columns + j]);
      }
    }
  }

 private:
  std::int64_t m_;
  std::int64_t n_;
  std::int64_t tiles_down_;
};

}  // namespace fp4proof::portable
