#pragma once
// Exact dots of blocks, a tile at a time.

#include <array>
#include <cstdint>

#include "reference/portable/gemm_operand.h"
#include "reference/portable/gemm_tile.h"

namespace fp4proof::portable {

/// The dots of one block for every element of a tile, before the scales: high + low, which is exact but need not fit
/// one binary64 number. `low` counts only where `is_split`. A dot that meets NaN or infinity follows IEEE 754 in
/// `high`.
struct TileDots {
  alignas(64) std::array<double, tile_size> high;
  alignas(64) std::array<double, tile_size> low;
  bool is_split = false;
};

/// Both operands unpacked for exact dots.
///
/// Elements with few bits become small integers ("steps" of the smallest element) that 16-bit lanes multiply and add;
/// all others become binary64 numbers whose products add up exactly. The values of E5M2 reach too far for that, so they
/// are split: those below 1/2 enter `low`.
class ExactDots {
 public:
  ExactDots(const OperandReader& a, const OperandReader& b);

  void compute(std::int64_t panel_a, std::int64_t panel_b, std::int64_t block, TileDots& dots) const;

  /// The scales of the rows of a panel. dot * (scale_a * scale_b) is exact in binary64.
  const double* scales_of_a(std::int64_t panel, std::int64_t block) const { return a_.scales.panel(panel, block); }
  const double* scales_of_b(std::int64_t panel, std::int64_t block) const { return b_.scales.panel(panel, block); }

 private:
  enum class Kind : std::uint8_t { steps, values, split_values };

  struct Side {
    Panels<double> scales;  ///< per block; times the step where the kind is `steps`
    Panels<std::int16_t> steps;
    Panels<double> values;             ///< split: the large and the special ones
    Panels<double> small_values;       ///< split
    Panels<std::uint8_t> has_special;  ///< split; per block: NaN or infinity among its values
    bool has_small_values = false;
  };

  static Kind choose(const Profile& a, const Profile& b);
  Side unpack(const OperandReader& reader, int width) const;
  void unpack_row(const OperandReader& reader, std::int64_t row, Side& side) const;
  static double whole_value(const Side& side, std::int64_t panel, std::int64_t k, int lane);
  void compute_split(std::int64_t panel_a, std::int64_t panel_b, std::int64_t block, TileDots& dots) const;

  int length_;
  Kind kind_;
  int products_per_sum_;  ///< `steps`: how many products a 16-bit sum holds
  Side a_;
  Side b_;
};

}  // namespace fp4proof::portable
