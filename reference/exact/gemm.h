#pragma once
// C[m,n] = sum over k of A[m,k] * B[n,k] from encoded operands, in every accumulator. Both operands are blocked along
// k.

#include <cstdint>
#include <span>
#include <vector>

#include "formats/result.h"
#include "formats/spec.h"
#include "reference/exact/block.h"

namespace fp4proof::exact {

/// How block products p = RN32(exact block dot) become C.
enum class Accumulator : std::uint8_t {
  seq512,                 ///< acc = RN32(acc + p) in k order, a new acc every 512 elements, chunk sums added in order
  seq,                    ///< the same with one chunk
  exact,                  ///< the exact sum of all block dots, rounded once; p is not rounded
  tc_hopper_fp16,         ///< block dot by fp16 instructions (K 16) from C = 0, then scaled and added as in seq512
  tc_hopper_fp8,          ///< the same by fp8 instructions (K 32)
  tc_blackwell_mxf8f6f4,  ///< scales inside the instruction (K 32), the accumulator chained through all of k
  tc_blackwell_mxf4,      ///< the same with exact dots of 16 elements (K 64)
};

/// A quantized matrix: rows of 1D blocks along k. A 2D block contributes its rows (block_row).
struct Operand {
  Profile profile;
  std::vector<std::vector<EncodedBlock>> rows;
  std::uint32_t tensor_scale = 0x3F800000U;  ///< NVFP4; multiplies the finished sum
};

/// Encodes a row-major matrix of binary32 words; columns and (2D) rows must be multiples of the block. An element's
/// random word, under Rounding::stochastic, stands at its place in the matrix. Errors: the shape, a refused block.
Result<Operand> quantize_operand(const Profile& profile, std::span<const std::uint32_t> words, std::size_t rows,
                                 std::size_t cols, std::span<const std::uint32_t> random_words = {});

/// RN32 of the exact dot of two blocks with their block scales (not the tensor scales); NaN is 0x7FC00000.
std::uint32_t block_product(const Profile& profile_a, const EncodedBlock& a, const Profile& profile_b,
                            const EncodedBlock& b);

/// The words of C, M x N row-major. Errors: unequal block lengths or k, an accumulator that does not take the operands
/// (mxf8f6f4: MX blocks of 32; mxf4: E2M1 in blocks of 16 or 32; hopper: elements that the operand type holds).
Result<std::vector<std::uint32_t>> gemm(const Operand& a, const Operand& b, Accumulator accumulator);

/// The same for bfloat16 words, A is m x k and B is n x k, both row-major: acc = RN32(acc + a * b) in k order with
/// chunks of `chunk` elements (0: one chunk).
std::vector<std::uint32_t> bf16_gemm(std::span<const std::uint16_t> a, std::span<const std::uint16_t> b, std::size_t m,
                                     std::size_t n, std::size_t k, std::size_t chunk = 512);

}  // namespace fp4proof::exact
