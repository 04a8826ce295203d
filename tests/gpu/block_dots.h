#pragma once
// Whether the matrix instructions of the device give exact block dots: the tensor-core road of gemm() rests on it, and
// only published models (docs/rules-gemm.md, GM15) and this test say so.

#include <cuda_runtime_api.h>

#include <cstdint>

namespace fp4proof::gpu {

/// Which elements a block has. Signs are random where nothing else is said.
enum class DotPattern : std::uint32_t {
  any,              ///< every code
  largest,          ///< +-6
  all_positive,     ///< +6
  one_largest,      ///< +-6 once, the smallest number elsewhere
  one_against_all,  ///< +6 once, the smallest number elsewhere, with the opposite sign in half of the lines
  cancelling,       ///< +6 and -6 in turn, now and then the smallest number
  sparse,           ///< mostly zeros
  halves,           ///< one half +6, the other +6 or the smallest number
};
inline constexpr std::uint32_t dot_patterns = 8;

/// Dots of MXFP4 blocks as E5M2, under exponents from -13 to 13 on either side, or all -13 or all 13. Adds the number
/// of wrong ones of blocks * 4 * 64 * 128 to `*wrong` (device).
enum class DotExponents : std::uint32_t { any, lowest, highest };
void count_wrong_mx_dots(DotPattern pattern, DotExponents exponents, std::uint64_t seed, unsigned blocks,
                         unsigned long long* wrong, cudaStream_t stream);

/// Dots of HiF4 groups as integers, of blocks * 2 * 64 * 128.
void count_wrong_hif4_dots(DotPattern pattern, std::uint64_t seed, unsigned blocks, unsigned long long* wrong,
                           cudaStream_t stream);

}  // namespace fp4proof::gpu
