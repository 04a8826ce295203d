#pragma once
// The road of quantize() that takes every job.

#include <cuda_runtime_api.h>

#include "gpu/quantize.h"
#include "gpu/status.h"

namespace fp4proof::gpu {

/// Quantizes a job that quantize() has checked and that has elements. The padding of scale layouts is not written,
/// tensor scales are read.
Status general_quantize(const QuantizeJob& job, const Coded& coded, cudaStream_t stream);

}  // namespace fp4proof::gpu
