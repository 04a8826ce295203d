#pragma once
// Operands of the GEMM as exact numbers: per block one scale and the values that it multiplies. Internal to the oracle.

#include <cstdint>
#include <vector>

#include "reference/exact/extended.h"
#include "reference/exact/gemm.h"
#include "reference/exact/tensor_core.h"

namespace fp4proof::exact {

/// One 1D block. The decoded elements are values[i] * scale, tensor scale aside. HiF4 values carry their
/// micro-exponents and count in quarters, so they are integers up to 28, and its scale is E6M2 / 4.
struct DecodedBlock {
  Family family = Family::mx;
  Element element = Element::e2m1;
  Extended scale;
  std::vector<Extended> values;

  /// Exponent below which the element's own type is subnormal.
  int native_min_exponent() const;
  /// The same for the type that a Hopper instruction takes the value in: fp16, E5M2 for E5M2, E4M3 for all others.
  int hopper_min_exponent(const TensorCore& core) const;
};

using DecodedRow = std::vector<DecodedBlock>;

DecodedBlock decode_operand_block(const Profile& profile, const EncodedBlock& block);
std::vector<DecodedRow> decode_operand(const Operand& operand);

/// The exact dot of two blocks with both scales; NaN where a scale is NaN, even against zeros.
Extended block_dot(const DecodedBlock& a, const DecodedBlock& b);

}  // namespace fp4proof::exact
