#include "tests/exhaustive/word_digest.h"
#include "tests/gpu/sweep_functions.h"
#include "tests/gpu/sweeps_device.h"

namespace fp4proof::sweeps {

namespace {

/// Sums of integers modulo 2^64, so the order in which they are added does not matter.
template <class Function>
__global__ void add_digest(const Function function, unsigned long long* digest) {
  std::uint64_t sum = 0;
  const std::uint64_t step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < Function::inputs; i += step) {
    const auto word = static_cast<std::uint32_t>(i);
    sum += exhaustive::digest_term(word, function.on_device(word));
  }
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(~0U, sum, distance);
  if (threadIdx.x % 32 == 0) atomicAdd(digest, static_cast<unsigned long long>(sum));
}

}  // namespace

cudaError_t add_device_digest(std::size_t index, std::uint64_t* digest, cudaStream_t stream) {
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  with_function(index, [&](const auto& function) {
    add_digest<<<132 * 16, 256, 0, stream>>>(function, reinterpret_cast<unsigned long long*>(digest));
  });
  return cudaGetLastError();
}

}  // namespace fp4proof::sweeps
