#pragma once
// C[m][n] = sum over k of A[m][k] * B[n][k] on quantized matrices, in an order that is part of the result
// (docs/rules-gemm.md). Backward products have the same form: dX = dY * W takes W quantized along its rows, dW = dY^T *
// X takes both quantized along the rows (quantize_both_axes()).

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "formats/spec.h"
#include "formats/spec_corrections.h"
#include "gpu/correct.h"
#include "gpu/matrix.h"
#include "gpu/status.h"

namespace fp4proof::gpu {

enum class Accumulator : std::uint8_t {
  seq512,  ///< normative: binary32, block after block, a new sum every 512 elements of K
  seq,     ///< the same with one chunk
};

/// One side of a product: [batch, lines, length] under `profile`, blocked along k = length, row-major scales. A part's
/// macro bytes and the residual count only under a stack that has them.
struct GemmOperand {
  Profile profile;  ///< with the tile of the stack: CorrectionStack::effective()
  std::int64_t lines = 0;
  ConstCodedPart first;
  ConstCodedPart residual;
};

struct GemmJob {
  std::int64_t batch = 1;
  std::int64_t k = 0;  ///< logical length of both sides
  GemmOperand a;
  GemmOperand b;
  CorrectionStack stack;  ///< corrections of A
  /// Corrections of B; nothing: those of A without its residual (CorrectionStack::without_residual()).
  std::optional<CorrectionStack> stack_b;
  Accumulator accumulator = Accumulator::seq512;
  float* c = nullptr;  ///< [batch, a.lines, b.lines], NaN canonical
};

/// Bytes of device memory that gemm() needs while it runs; 0 for extents that it refuses.
std::size_t gemm_workspace(const GemmJob& job);

/// Multiplies. MXFP4 and HiF4 without macro blocks run on tensor cores; tiles whose scales leave the range in which
/// that is exact take a slower road with the same bits. Both sides need one block length: 16, 32 or 64, or 8 for tiles
/// of MX. Their elements and families may differ. Codes are aligned to 8 bytes, HiF4 scales to 4. Status::invalid:
/// other block lengths or accumulators, missing or misaligned pointers, a residual on both sides, unequal Hadamard
/// transforms or macro sizes, macro blocks that hold no whole blocks. Status::unsupported: elements that no format of
/// the family has.
Status gemm(const GemmJob& job, void* workspace, std::size_t workspace_bytes, cudaStream_t stream);

}  // namespace fp4proof::gpu
