#include "gpu/plugin_device.h"

#include <cstdint>

#include "gpu/canary.h"
#include "gpu/plugin_memory.h"

namespace fp4proof::gpu::plugin {

namespace {

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

Result<std::string> describe_device() {
  int device = 0;
  cudaDeviceProp properties{};
  int driver = 0;
  int runtime = 0;
  if (const Result<void> done = check_cuda(cudaGetDevice(&device), "no CUDA device"); !done) return done.error();
  for (const Result<void>& done : {check_cuda(cudaGetDeviceProperties(&properties, device), "the CUDA device"),
                                   check_cuda(cudaDriverGetVersion(&driver), "the CUDA driver"),
                                   check_cuda(cudaRuntimeGetVersion(&runtime), "the CUDA runtime")}) {
    if (!done) return done.error();
  }
  return std::string(properties.name) + ", compute capability " + std::to_string(properties.major) + "." +
         std::to_string(properties.minor) + ", driver of CUDA " + version_text(driver) + ", runtime " +
         version_text(runtime);
}

Result<void> check_arithmetic(cudaStream_t stream) {
  Scratch scratch(stream);
  const Result<void*> memory = scratch.take(sizeof(std::uint32_t));
  if (!memory) return memory.error();
  const Status launched = count_arithmetic_faults(static_cast<std::uint32_t*>(*memory), stream);
  if (const Result<void> done = check_launch(launched, "the check of the arithmetic"); !done) return done;
  std::uint32_t faults = 0;
  const Result<void> copied = check_cuda(
      cudaMemcpyAsync(&faults, *memory, sizeof faults, cudaMemcpyDeviceToHost, stream), "the check of the arithmetic");
  if (!copied) return copied;
  if (const Result<void> done = check_cuda(cudaStreamSynchronize(stream), "the check of the arithmetic"); !done) {
    return done;
  }
  if (faults == 0) return {};
  return Error{ErrorKind::unsupported,
               "device code was compiled with another arithmetic: " + std::to_string(faults) + " faults"};
}

}  // namespace fp4proof::gpu::plugin
