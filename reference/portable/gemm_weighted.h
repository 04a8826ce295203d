#pragma once
// The product behind both gemm(): K may be cut into slices whose sums get a weight a row. Rule C41 of
// docs/rules-corrections.md; without slices docs/rules-gemm.md.

#include <cstdint>
#include <span>
#include <vector>

#include "formats/result.h"
#include "formats/spec.h"
#include "reference/portable/accumulator.h"
#include "reference/portable/quantize.h"

namespace fp4proof::portable {

/// The weights of slices of K. Those of a row of A and a row of B multiply with one rounding.
struct SliceWeights {
  int length = 0;            ///< elements of K in a slice, a multiple of the block and a divisor of 512; 0: no slices
  std::span<const float> a;  ///< row-major [rows of A, slices], each in [1/2, 2]; empty: all 1
  std::span<const float> b;  ///< the same for the rows of B
};

/// The product of two matrices that check_gemm() accepts, row-major [M, N], tensor scales included. With slices the
/// accumulator must be seq512, seq or exact. Fails with ErrorKind::unsupported where memory does not suffice.
Result<std::vector<float>> weighted_gemm(const Profile& profile_a, const Quantized& a, const Profile& profile_b,
                                         const Quantized& b, const SliceWeights& weights, Accumulator accumulator);

}  // namespace fp4proof::portable
