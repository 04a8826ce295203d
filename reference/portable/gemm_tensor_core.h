#pragma once
// Tensor-core models applied to quantized operands.

#include <cstdint>
#include <vector>

#include "reference/portable/gemm_block_dots.h"
#include "reference/portable/gemm_operand.h"
#include "reference/portable/tensor_core_model.h"

namespace fp4proof::portable {

/// One operand as a model takes it, row after row.
class ModelOperand {
 public:
  /// Elements become ModelNumbers of the type whose smallest normal exponent is given; special values become zeros.
  ModelOperand(const OperandReader& reader, int min_exponent);

  const OperandReader& reader() const { return reader_; }
  const ModelNumber* block(std::int64_t row, std::int64_t block) const {
    return numbers_.data() + (row * reader_.blocks() + block) * reader_.length();
  }
  /// Whether the block holds NaN or infinity, or its scale is NaN.
  bool is_special(std::int64_t row, std::int64_t block) const {
    return special_[static_cast<std::size_t>(row * reader_.blocks() + block)] != 0;
  }
  ModelNumber scale(std::int64_t row, std::int64_t block) const {
    return scales_[static_cast<std::size_t>(row * reader_.blocks() + block)];
  }

 private:
  const OperandReader& reader_;
  std::vector<ModelNumber> numbers_;
  std::vector<ModelNumber> scales_;
  std::vector<std::uint8_t> special_;
};

/// Block dots by Hopper instructions that chain their accumulator from +0 through one block; scales come afterwards.
/// The same interface as ExactDots. A block with NaN or infinity follows IEEE 754.
class HopperDots {
 public:
  HopperDots(const TensorCore& core, int (*min_exponent)(Element), const OperandReader& a, const OperandReader& b);

  void compute(std::int64_t panel_a, std::int64_t panel_b, std::int64_t block, TileDots& dots) const;
  const double* scales_of_a(std::int64_t panel, std::int64_t block) const { return scales_a_.panel(panel, block); }
  const double* scales_of_b(std::int64_t panel, std::int64_t block) const { return scales_b_.panel(panel, block); }

 private:
  double dot(std::int64_t row_a, std::int64_t row_b, std::int64_t block) const;

  TensorCore core_;
  ModelOperand a_;
  ModelOperand b_;
  Panels<double> scales_a_;
  Panels<double> scales_b_;
};

/// The sum of one element of C by Blackwell instructions: block scales inside, the accumulator chained through all of
/// K. Where a block is special or the accumulator infinite, the instruction follows IEEE 754. `core` is
/// blackwell_mxf8f6f4 or blackwell_mxf4.
float blackwell_sum(const TensorCore& core, const ModelOperand& a, std::int64_t row_a, const ModelOperand& b,
                    std::int64_t row_b);

}  // namespace fp4proof::portable
