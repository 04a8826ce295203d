#pragma once
// Launches of the training operators: a body for every element, for every place of a matrix, or for every warp.
//
// A body is a struct with `__device__ void operator()` that holds the arguments. Which thread or warp runs it changes
// no bit, so the grid is free.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "gpu/launch.h"
#include "gpu/status.h"

namespace fp4proof::gpu::training {

inline constexpr int lanes = 32;
inline constexpr int threads_per_block = 256;

/// body(i) for 0 <= i < count.
template <class Body>
__global__ void __launch_bounds__(threads_per_block)
    run_elements(std::int64_t count, const __grid_constant__ Body body) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) body(i);
}

/// Columns of a row that a warp has.
inline constexpr int tile_columns = 4 * lanes;

/// body(row, column) for every place of a matrix whose rows are cut into `tiles`.
template <class Body>
__global__ void __launch_bounds__(threads_per_block)
    run_places(std::int64_t rows, std::int64_t columns, std::int64_t tiles, const __grid_constant__ Body body) {
  const std::int64_t warps = std::int64_t{gridDim.x} * blockDim.x / lanes;
  const std::int64_t first = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / lanes;
  for (std::int64_t unit = first; unit < rows * tiles; unit += warps) {
    const std::int64_t row = unit / tiles;
    const std::int64_t column = unit % tiles * tile_columns + threadIdx.x % lanes;
#pragma unroll
    for (int i = 0; i < tile_columns; i += lanes) {
      if (column + i < columns) body(row, column + i);
    }
  }
}

/// body(unit, lane, shared) for 0 <= unit < count by all lanes of a warp. `shared` is the warp's part of the dynamic
/// shared memory, `shared_floats` long.
template <class Body>
__global__ void __launch_bounds__(threads_per_block)
    run_warps(std::int64_t count, const __grid_constant__ Body body, int shared_floats) {
  extern __shared__ float shared[];
  const int warp = static_cast<int>(threadIdx.x) / lanes;
  const int lane = static_cast<int>(threadIdx.x) % lanes;
  const int warps = static_cast<int>(blockDim.x) / lanes;
  for (std::int64_t unit = std::int64_t{blockIdx.x} * warps + warp; unit < count;
       unit += std::int64_t{gridDim.x} * warps) {
    body(unit, lane, shared + warp * shared_floats);
  }
}

template <class Body>
Status launch_elements(std::int64_t count, const Body& body, cudaStream_t stream) {
  if (count < 0) return Status::invalid;
  if (count == 0) return Status::ok;
  run_elements<<<grid_for(count, threads_per_block), threads_per_block, 0, stream>>>(count, body);
  return launch_status();
}

template <class Body>
Status launch_places(std::int64_t rows, std::int64_t columns, const Body& body, cudaStream_t stream) {
  if (rows < 0 || columns < 0) return Status::invalid;
  if (rows == 0 || columns == 0) return Status::ok;
  const std::int64_t tiles = ceil_div(columns, tile_columns);
  const unsigned blocks = grid_for(rows * tiles, threads_per_block / lanes);
  run_places<<<blocks, threads_per_block, 0, stream>>>(rows, columns, tiles, body);
  return launch_status();
}

/// A block has as many warps as the shared memory of 48 KiB allows, eight at most.
template <class Body>
Status launch_warps(std::int64_t count, const Body& body, cudaStream_t stream, std::int64_t shared_floats = 0) {
  constexpr std::int64_t most_floats = 48 * 1024 / sizeof(float);
  if (count < 0 || shared_floats < 0) return Status::invalid;
  if (shared_floats > most_floats) return Status::unsupported;
  if (count == 0) return Status::ok;
  std::int64_t warps = threads_per_block / lanes;
  while (warps * shared_floats > most_floats) warps /= 2;
  const auto bytes = static_cast<std::size_t>(warps * shared_floats) * sizeof(float);
  run_warps<<<grid_for(count, warps), static_cast<unsigned>(warps) * lanes, bytes, stream>>>(
      count, body, static_cast<int>(shared_floats));
  return launch_status();
}

}  // namespace fp4proof::gpu::training
