#pragma once
// Operators of a training run over rows of numbers: T30 to T34 and T37 to T40 of docs/rules-training.md.
//
// conformance/training_backend.h describes the arguments, which are device memory here. Like all launch functions these
// check on the host, launch on the stream and return: no allocation, no synchronisation, capturable in a CUDA graph.
// Status::invalid: negative extents and null pointers where there is work.

#include <cuda_runtime_api.h>

#include "conformance/training_backend.h"
#include "gpu/status.h"

namespace fp4proof::gpu::training {

Status embed(const fp4proof_embed_call& call, cudaStream_t stream);
Status embed_backward(const fp4proof_embed_backward_call& call, cudaStream_t stream);
Status rms_norm(const fp4proof_rms_norm_call& call, cudaStream_t stream);
Status rms_norm_backward(const fp4proof_rms_norm_backward_call& call, cudaStream_t stream);
Status add(const fp4proof_add_call& call, cudaStream_t stream);
Status swiglu(const fp4proof_swiglu_call& call, cudaStream_t stream);
Status swiglu_backward(const fp4proof_swiglu_backward_call& call, cudaStream_t stream);
Status copy_rows(const fp4proof_copy_rows_call& call, cudaStream_t stream);
Status gather_rows(const fp4proof_gather_rows_call& call, cudaStream_t stream);

}  // namespace fp4proof::gpu::training
