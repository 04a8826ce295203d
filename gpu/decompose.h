#pragma once
// The exact three-way error decomposition (docs/rules-corrections.md, D1 to D8) on the device.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "formats/spec.h"
#include "gpu/matrix.h"
#include "gpu/status.h"

namespace fp4proof::gpu {

struct DecomposeJob {
  Profile profile;
  DType dtype = DType::f32;
  MatrixShape shape;
  const void* input = nullptr;
  RandomSource random;
};

/// What a decomposition writes; each pointer may be null. Lines are those of MatrixShape, without padding.
struct DecomposeOutput {
  double* terms = nullptr;          ///< [batch, lines, length, 3]: F e_scale, F e_deadzone, F e_grid
  double* sums = nullptr;           ///< [batch, lines, 8]: the sums of D5 in the order of docs/vectors.md
  std::uint32_t* counts = nullptr;  ///< [batch, lines, 4]: excluded, in the deadzone, zeroed, inexact
};

/// Bytes of device memory that decompose() needs while it runs; 0 for what it refuses.
std::size_t decompose_workspace(const DecomposeJob& job);

/// Decomposes the error of quantizing job.input. Profiles as in quantize(), with blocks of the named ones. The
/// workspace, terms and sums are aligned to 8 bytes, counts to 4.
/// Status::invalid: extents, missing or misaligned pointers. Status::unsupported: other blocks, and what quantize()
/// does not offer.
Status decompose(const DecomposeJob& job, const DecomposeOutput& output, void* workspace, std::size_t workspace_bytes,
                 cudaStream_t stream);

}  // namespace fp4proof::gpu
