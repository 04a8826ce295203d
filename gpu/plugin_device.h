#pragma once
// What the tables of the plug-in ask of the device before they offer anything.

#include <cuda_runtime_api.h>

#include <string>

#include "formats/result.h"

namespace fp4proof::gpu::plugin {

/// Its name, compute capability, driver and runtime. An error where there is no device.
Result<std::string> describe_device();

/// An error where device code was compiled with another arithmetic than the rules ask for. Waits for the stream.
Result<void> check_arithmetic(cudaStream_t stream);

}  // namespace fp4proof::gpu::plugin
