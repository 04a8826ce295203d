#pragma once
// Which codes of a residual are kept. Rules C22 to C24 of docs/rules-corrections.md; every matrix of a batch is ranked
// by itself.

#include <cuda_runtime_api.h>

#include <cstddef>

#include "formats/spec_corrections.h"
#include "gpu/matrix.h"
#include "gpu/status.h"

namespace fp4proof::gpu {

/// Bytes of device memory that mask_residual() needs.
std::size_t mask_workspace(const ResidualSpec& spec, const MatrixShape& shape);

/// Makes every code of the residual outside the mask +0. `input` is the input of the inner quantizer and `residual` the
/// r of C20, both lines of `shape`; `codes` are those of r, aligned to 4 bytes, and `workspace` is aligned to 8 bytes.
Status mask_residual(const ResidualSpec& spec, const MatrixShape& shape, const CodedShape& coded, const float* input,
                     const float* residual, std::uint8_t* codes, void* workspace, cudaStream_t stream);

}  // namespace fp4proof::gpu
