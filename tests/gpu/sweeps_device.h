#pragma once
// The device's side of sweeps.h.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace fp4proof::sweeps {

/// Adds the digest of sweep `index` to *digest (device memory), on a stream.
cudaError_t add_device_digest(std::size_t index, std::uint64_t* digest, cudaStream_t stream);

}  // namespace fp4proof::sweeps
