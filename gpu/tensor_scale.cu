#include "formats/nvfp4.h"
#include "gpu/launch.h"
#include "gpu/load_word.h"
#include "gpu/tensor_scale.h"

namespace fp4proof::gpu {

namespace {

constexpr int threads = 256;
constexpr int elements_per_thread = 16;
constexpr std::int64_t elements_per_block = std::int64_t{threads} * elements_per_thread;

/// The largest finite magnitude of each matrix. A maximum of integers: the order of the atomics does not matter.
template <DType D>
__global__ void __launch_bounds__(threads)
    find_maxima(const QuantizeJob job, std::int64_t elements, std::int64_t pieces, std::uint32_t* maxima) {
  for (std::int64_t i = blockIdx.x; i < job.shape.batch * pieces; i += gridDim.x) {
    const std::int64_t matrix = i / pieces;
    const std::int64_t first = (i - matrix * pieces) * elements_per_block + threadIdx.x;
    std::uint32_t max = 0;
#pragma unroll
    for (int j = 0; j < elements_per_thread; ++j) {
      const std::int64_t at = first + j * threads;
      if (at >= elements) break;
      const std::uint32_t word = prepared_word(job.profile, load_word<D>(job.input, matrix * elements + at));
      const std::uint32_t magnitude = word & float_magnitude_mask;
      if (magnitude < float_infinity_bits && magnitude > max) max = magnitude;
    }
    max = __reduce_max_sync(0xFFFFFFFFU, max);
    if (threadIdx.x % 32 == 0 && max != 0) atomicMax(maxima + matrix, max);
  }
}

__global__ void scales_of(const std::uint32_t* maxima, std::int64_t batch, float* scales) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < batch; i += step) {
    scales[i] = nvfp4_tensor_scale(maxima[i]);
  }
}

}  // namespace

Status write_tensor_scales(const QuantizeJob& job, float* scales, void* workspace, cudaStream_t stream) {
  const std::int64_t batch = job.shape.batch;
  if (batch == 0) return Status::ok;
  auto* maxima = static_cast<std::uint32_t*>(workspace);
  if (cudaMemsetAsync(maxima, 0, tensor_scale_workspace(job), stream) != cudaSuccess) return Status::launch_failed;
  const std::int64_t elements = job.shape.rows * job.shape.columns;
  if (elements != 0) {
    const std::int64_t pieces = ceil_div(elements, elements_per_block);
    with_dtype(job.dtype, [&]<DType D>() {
      find_maxima<D><<<grid_for(batch * pieces, 1), threads, 0, stream>>>(job, elements, pieces, maxima);
    });
  }
  scales_of<<<grid_for(batch, threads), threads, 0, stream>>>(maxima, batch, scales);
  return launch_status();
}

}  // namespace fp4proof::gpu
