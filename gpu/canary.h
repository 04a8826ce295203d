#pragma once
// Whether device code was compiled with the arithmetic that every bit of the CUDA path rests on.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gpu/status.h"

namespace fp4proof::gpu {

/// Evaluates expressions whose bits change under contraction, flushing of subnormals, approximate division or another
/// rounding, and writes the number of wrong ones to `*faults` (device). Anything but 0 means that no result can be
/// trusted: build without --use_fast_math, with --fmad=false.
Status count_arithmetic_faults(std::uint32_t* faults, cudaStream_t stream);

}  // namespace fp4proof::gpu
