#pragma once
// The largest of many measures.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gpu/status.h"

namespace fp4proof::gpu {

/// flags[b][i] := whether measures[b][i], i < count, is among the `kept` largest of its row, 1 <= kept <= count;
/// between equals the one that comes first. Measures are not negative and not NaN, and no zero is -0.
Status flag_largest(std::int64_t batch, std::int64_t count, std::int64_t kept, const double* measures,
                    std::uint8_t* flags, cudaStream_t stream);

}  // namespace fp4proof::gpu
