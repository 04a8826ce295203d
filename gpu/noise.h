#pragma once
// Adaptive quantization noise on the weights of a norm. Rule C51 of docs/rules-corrections.md.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gpu/status.h"

namespace fp4proof::gpu {

struct NoiseJob {
  const float* clean = nullptr;  ///< [channels], device
  float* noisy = nullptr;        ///< [channels], device; may be `clean` itself
  std::int64_t channels = 0;     ///< at most 2^32
  float sigma = 0.0F;            ///< of the step; 0 copies the weights
  std::uint64_t seed = 0;
  std::uint32_t step = 0;
  std::uint32_t layer = 0;
};

/// noisy := RN(w + RN(sigma n)), n being the normal of (seed, stream aqn, step, layer 2^32 + channel); NaN is
/// canonical. Status::invalid: null or misaligned pointers, more than 2^32 channels, or a sigma that is negative,
/// infinite or NaN.
Status add_noise(const NoiseJob& job, cudaStream_t stream);

}  // namespace fp4proof::gpu
