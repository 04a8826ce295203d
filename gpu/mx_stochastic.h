#pragma once
// The fast road of quantize() from bfloat16 to MXFP4 with stochastic rounding. The bits are those of the general road.

#include <cuda_runtime_api.h>

#include "gpu/quantize.h"

namespace fp4proof::gpu {

/// Whether quantize_mx_stochastic() takes the job: the default fields of docs/rules-mx.md but for stochastic rounding
/// with 8, 16 or 32 Philox bits, any scale rule in exact arithmetic, 1D blocks along the columns, columns a multiple of
/// 32, scales in row-major order, input aligned to 16 bytes, codes and scales to 4. Rows and batches may be any.
bool takes_mx_stochastic(const QuantizeJob& job, const Coded& coded);

/// quantize() for such a job.
Status quantize_mx_stochastic(const QuantizeJob& job, const Coded& coded, cudaStream_t stream);

}  // namespace fp4proof::gpu
