#pragma once
// Calls of the plug-in, answered by the launch functions of the CUDA path.

#include <cuda_runtime_api.h>

#include "conformance/backend.h"
#include "formats/result.h"
#include "gpu/plugin_call.h"
#include "gpu/plugin_input.h"

namespace fp4proof::gpu::plugin {

/// Fills the outputs of the call and returns when they are complete. `counts` grows by the cases of quantize, correct
/// and decompose that were answered in each format.
Result<void> answer(const fp4proof_call& call, const Request& request, InputMode mode, cudaStream_t stream,
                    FormatCounts& counts);

}  // namespace fp4proof::gpu::plugin
