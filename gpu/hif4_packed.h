#pragma once
// The fast road of quantize() from bfloat16 to HiF4 with packed arithmetic. The bits are those of the general road.

#include <cuda_runtime_api.h>

#include "gpu/quantize.h"

namespace fp4proof::gpu {

/// Whether quantize_hif4_packed() takes the job: the choices of hif4/gcc in groups of 64, along the columns (columns a
/// multiple of 64) or along the rows (rows a multiple of 64, even columns), or in 64 x 64 tiles along the columns (both
/// multiples of 64); scale words in row-major order, input and codes aligned to 16 bytes, scales to 4. Batches may be
/// any.
bool takes_hif4_packed(const QuantizeJob& job, const Coded& coded);

/// quantize() for such a job.
Status quantize_hif4_packed(const QuantizeJob& job, const Coded& coded, cudaStream_t stream);

}  // namespace fp4proof::gpu
