#pragma once
// A quantized matrix as numbers: block after block, the element values and the one scale that multiplies them.

#include <array>
#include <cstdint>

#include "formats/spec.h"
#include "reference/portable/quantize.h"

namespace fp4proof::portable {

inline constexpr int max_block_length = 64;

/// Reads blocks of a quantized matrix. Keeps references: profile and matrix must outlive it.
class OperandReader {
 public:
  OperandReader(const Profile& profile, const Quantized& quantized);

  const Profile& profile() const { return profile_; }
  std::int64_t rows() const { return quantized_.geometry.rows; }
  std::int64_t blocks() const { return quantized_.geometry.blocks; }
  int length() const { return profile_.block.cols; }
  float tensor_scale() const { return quantized_.tensor_scale; }

  /// The `length()` element values of a block, without its scale but, in HiF4, with the powers of two of its level
  /// bits. Exact; NaN and infinity where the code means it; +0 in the padding.
  void read_block(std::int64_t row, std::int64_t block, double* values) const;

  /// The scale of a block, exact, without the tensor scale; NaN under a NaN scale code.
  double scale(std::int64_t row, std::int64_t block) const;

 private:
  std::uint32_t scale_word(std::int64_t row, std::int64_t block) const;

  const Profile& profile_;
  const Quantized& quantized_;
  int codes_per_byte_;
  std::array<std::array<double, 2>, 256> values_{};  ///< by stored byte
};

}  // namespace fp4proof::portable
