#pragma once
// C[m,n] = sum over k of A[m,k] * B[n,k], both operands blocked along k. Rules: docs/rules-gemm.md.
//
// Same bits for any number of threads, any compiler and any instruction set: every element of C is one sequence of
// operations fixed by the accumulator, and threads share nothing but the operands.

#include <cstdint>
#include <span>
#include <vector>

#include "formats/result.h"
#include "formats/spec.h"
#include "reference/portable/accumulator.h"
#include "reference/portable/quantize.h"

namespace fp4proof::portable {

/// The product of two quantized matrices, A of logical shape [M, K] and B of logical shape [N, K] (block axis last in
/// the geometry). Returns C, row-major [M, N]. Every NaN of C is 0x7FC00000. K = 0 gives zeros.
///
/// Needs profiles whose element, block and family go together, as those of every named profile do; MX may also have
/// tiles of 8, 16 or 64.
/// The profiles may differ (MXFP4 times MXFP8) as long as their blocks have the same length. 2D profiles store every
/// row of a tile with the tile's scale and need nothing special. What pads a row counts as zero, whatever its codes.
/// The tensor scales of NVFP4 multiply the finished sum: C = RN32(RN32(sum * Ta) * Tb).
///
/// Fails with ErrorKind::usage where the operands are no matrices or do not fit each other, and where the accumulator
/// does not take the formats: tc:blackwell-mxf8f6f4 takes MX in blocks of 32, tc:blackwell-mxf4 takes E2M1 of MX or
/// NVFP4 in blocks of 16 or 32, all others take everything. Fails with ErrorKind::corrupt where the bytes do not fit
/// the geometry, and with ErrorKind::unsupported where C or the unpacked operands do not fit in memory.
Result<std::vector<float>> gemm(const Profile& profile_a, const Quantized& a, const Profile& profile_b,
                                const Quantized& b, Accumulator accumulator);

/// The product of two bfloat16 matrices, A row-major [m, k] and B row-major [n, k]: acc = fma(a, b, acc) in k order,
/// binary32, from +0; a new acc every 512 elements of k; chunk sums added in chunk order, the first one copied.
/// Every NaN of C is 0x7FC00000. Fails with ErrorKind::usage where a span has another length than its shape.
Result<std::vector<float>> gemm_bf16(std::span<const std::uint16_t> a, std::span<const std::uint16_t> b, std::int64_t m,
                                     std::int64_t n, std::int64_t k);

}  // namespace fp4proof::portable
