#pragma once
// Softmax over a vocabulary and what is drawn from it: T41 to T43 of docs/rules-training.md.
//
// conformance/training_backend.h describes the arguments, which are device memory here. No allocation and no
// synchronisation: capturable in a CUDA graph. Status::invalid: negative extents, rows over no vocabulary, null
// pointers where there is work.

#include <cuda_runtime_api.h>

#include "conformance/training_backend.h"
#include "gpu/status.h"

namespace fp4proof::gpu::training {

Status log_softmax(const fp4proof_log_softmax_call& call, cudaStream_t stream);
Status sample(const fp4proof_sample_call& call, cudaStream_t stream);
Status log_softmax_backward(const fp4proof_log_softmax_backward_call& call, cudaStream_t stream);

}  // namespace fp4proof::gpu::training
