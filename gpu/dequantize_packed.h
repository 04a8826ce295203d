#pragma once
// The fast road of dequantize() from MXFP4 and HiF4 to bfloat16 and binary32. The bits are those of the general road.

#include <cuda_runtime_api.h>

#include "gpu/dequantize.h"

namespace fp4proof::gpu {

/// Whether dequantize_packed() takes the job: E2M1 under E8M0 in blocks of 32, or S1P2 in HiF4 groups, to bf16 or f32;
/// lengths a multiple of the block, scales in row-major order, codes and scales aligned to 4 bytes, values to 16. Lines
/// and batches may be any.
bool takes_dequantize_packed(const DequantizeJob& job);

/// dequantize() for such a job.
Status dequantize_packed(const DequantizeJob& job, cudaStream_t stream);

}  // namespace fp4proof::gpu
