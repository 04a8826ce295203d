#pragma once
// Operators of a training run over weights: T44 to T46 and T50 of docs/rules-training.md.
//
// conformance/training_backend.h describes the arguments, which are device memory here. No allocation and no
// synchronisation: capturable in a CUDA graph. Status::invalid: negative counts, null pointers where there is work, a
// sigma that is negative, infinite or NaN.

#include <cuda_runtime_api.h>

#include <cstddef>

#include "conformance/training_backend.h"
#include "gpu/status.h"

namespace fp4proof::gpu::training {

/// Bytes of device memory that sum_squares() needs while it runs: a binary64 number for each segment of T2.
std::size_t sum_squares_workspace(const fp4proof_sum_squares_call& call);

Status sum_squares(const fp4proof_sum_squares_call& call, void* workspace, std::size_t workspace_bytes,
                   cudaStream_t stream);
Status adam(const fp4proof_adam_call& call, cudaStream_t stream);
Status add_noise(const fp4proof_add_noise_call& call, cudaStream_t stream);
Status digest(const fp4proof_digest_call& call, cudaStream_t stream);

}  // namespace fp4proof::gpu::training
