#pragma once
// What every launch function needs.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "formats/host_device.h"
#include "gpu/status.h"

namespace fp4proof::gpu {

/// What the launch before it came to.
inline Status launch_status() { return cudaGetLastError() == cudaSuccess ? Status::ok : Status::launch_failed; }

FP4PROOF_HD constexpr std::int64_t ceil_div(std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit; }

/// Blocks of a one-dimensional grid for `units` of work, `per_block` each. Kernels step by the whole grid or give each
/// block so much that no memory fills more of them, so that the limit of the grid's size limits nothing.
constexpr unsigned grid_for(std::int64_t units, std::int64_t per_block) {
  constexpr std::int64_t most = 0x7FFFFFFF;
  const std::int64_t blocks = ceil_div(units, per_block);
  return static_cast<unsigned>(blocks < most ? blocks : most);
}

}  // namespace fp4proof::gpu
