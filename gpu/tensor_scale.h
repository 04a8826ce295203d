#pragma once
// The binary32 tensor scale of NVFP4.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "gpu/quantize.h"
#include "gpu/status.h"

namespace fp4proof::gpu {

/// Bytes of device memory that write_tensor_scales() needs while it runs.
constexpr std::size_t tensor_scale_workspace(const QuantizeJob& job) {
  return static_cast<std::size_t>(job.shape.batch) * sizeof(std::uint32_t);
}

/// Writes amax / 2688 of each matrix of the batch to scales[batch]: largest finite magnitude, divided in binary32, 1
/// where that is zero.
Status write_tensor_scales(const QuantizeJob& job, float* scales, void* workspace, cudaStream_t stream);

}  // namespace fp4proof::gpu
