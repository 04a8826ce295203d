#pragma once
// Causal attention of a training run and its gradients: T35 and T36 of docs/rules-training.md.
//
// conformance/training_backend.h describes the arguments, which are device memory here. No allocation and no
// synchronisation: capturable in a CUDA graph. Status::invalid: extents that contradict each other, null pointers where
// there is work. Status::unsupported: a query that sees more than 12288 keys.

#include <cuda_runtime_api.h>

#include <cstddef>

#include "conformance/training_backend.h"
#include "gpu/status.h"

namespace fp4proof::gpu::training {

Status attention(const fp4proof_attention_call& call, cudaStream_t stream);

/// Bytes of device memory that attention_backward() needs while it runs: a number for each probability.
std::size_t attention_backward_workspace(const fp4proof_attention_backward_call& call);

Status attention_backward(const fp4proof_attention_backward_call& call, void* workspace, std::size_t workspace_bytes,
                          cudaStream_t stream);

}  // namespace fp4proof::gpu::training
