#pragma once
// Quantization and matrix products of a training run: T20 to T23 of docs/rules-training.md.
//
// conformance/training_backend.h describes the arguments, which are device memory here. Profiles and stacks are named;
// names are looked up when a call is read. No allocation and no synchronisation: capturable in a CUDA graph.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "conformance/training_backend.h"
#include "formats/result.h"
#include "gpu/correct.h"
#include "gpu/gemm.h"
#include "gpu/status.h"

namespace fp4proof::gpu::training {

/// A quantization, its names looked up.
struct QuantizeTask {
  CorrectJob job;
  Corrected output;
  std::uint64_t first_word = 0;  ///< element of the random word of place 0
};

/// ErrorKind::unsupported: names that are not known, a stack that the rules refuse for the profile.
Result<QuantizeTask> read_quantize(const fp4proof_quantize_call& call);
Result<GemmJob> read_multiply(const fp4proof_multiply_call& call);

/// Bytes of device memory that quantize() needs while it runs; 0 for extents that it refuses.
std::size_t quantize_workspace(const QuantizeTask& task);

/// The workspace is aligned to 256 bytes. Status: that of correct(); where it refuses, random words may have been drawn
/// in the workspace.
Status quantize(const QuantizeTask& task, void* workspace, std::size_t workspace_bytes, cudaStream_t stream);

/// Status::invalid: negative extents, null pointers where there is work.
Status to_bf16(const fp4proof_to_bf16_call& call, cudaStream_t stream);
Status multiply_bf16(const fp4proof_multiply_bf16_call& call, cudaStream_t stream);

}  // namespace fp4proof::gpu::training
