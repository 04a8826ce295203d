#pragma once
// The fast road of correct() for residuals: bfloat16 to MXFP4 or HiF4 and the coded residual in one pass over the
// input, with packed arithmetic. The bits are those of the general road.

#include <cuda_runtime_api.h>

#include "gpu/correct.h"

namespace fp4proof::gpu {

/// Whether code_residual_packed() takes the job: a stack of a residual alone, on a 1D profile and pointers that
/// takes_mx_packed() or takes_hif4_packed() along the columns.
bool takes_residual_packed(const CorrectJob& job, const Corrected& output);

/// Both parts of such a job, the residual under its 2:4 mask where it has one; other masks are left to the caller, and
/// so is output.values.
Status code_residual_packed(const CorrectJob& job, const Corrected& output, cudaStream_t stream);

}  // namespace fp4proof::gpu
