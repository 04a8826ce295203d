#pragma once
// The product of bfloat16 matrices in a fixed order (GM14 of docs/rules-gemm.md).

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gpu/status.h"

namespace fp4proof::gpu {

struct GemmBf16Job {
  std::int64_t batch = 1;
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  const std::uint16_t* a = nullptr;  ///< [batch, m, k]
  const std::uint16_t* b = nullptr;  ///< [batch, n, k]
  float* c = nullptr;                ///< [batch, m, n]
};

/// C[m][n] = sum over k of A[m][k] * B[n][k]: acc = fma(a, b, acc) in k order, binary32, from +0; a new acc every 512
/// elements of k; chunk sums added in chunk order, the first one copied. Every NaN of C is 0x7FC00000; K = 0 gives +0.
/// Pointers are aligned to their elements; a and b at multiples of 16 bytes, with K a multiple of 8, are read faster.
/// Status::invalid: extents that are negative or too large, missing or misaligned pointers.
Status gemm_bf16(const GemmBf16Job& job, cudaStream_t stream);

}  // namespace fp4proof::gpu
