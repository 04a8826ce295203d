#pragma once
// Device memory of one call of the plug-in, and CUDA's errors as values.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <vector>

#include "formats/result.h"
#include "gpu/status.h"

namespace fp4proof::gpu::plugin {

/// What CUDA says of `what`. CUDA forgets the error, which the next launch would take for its own, where it can.
inline Result<void> check_cuda(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return {};
  static_cast<void>(cudaGetLastError());
  return Error{ErrorKind::internal, std::string(what) + ": " + cudaGetErrorString(error)};
}

/// The status of a launch function as a result.
inline Result<void> check_launch(Status status, const char* what) {
  if (status == Status::ok) return {};
  const std::string message = std::string(what) + ": " + status_text(status);
  switch (status) {
    case Status::invalid: return Error{ErrorKind::usage, message};
    case Status::unsupported: return Error{ErrorKind::unsupported, message};
    default: return Error{ErrorKind::internal, message};
  }
}

/// Memory that lives until the end of a call. It holds 0xA5 at first, so that no result can rest on zeros that nobody
/// wrote.
class Scratch {
 public:
  explicit Scratch(cudaStream_t stream) : stream_(stream) {}
  ~Scratch() {
    for (void* memory : taken_) cudaFreeAsync(memory, stream_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  Result<void*> take(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    void* memory = nullptr;
    if (const Result<void> done = check_cuda(cudaMallocAsync(&memory, bytes, stream_), "cudaMallocAsync"); !done) {
      return done.error();
    }
    taken_.push_back(memory);
    constexpr int poison = 0xA5;
    const Result<void> filled = check_cuda(cudaMemsetAsync(memory, poison, bytes, stream_), "cudaMemsetAsync");
    return filled ? Result<void*>(memory) : filled.error();
  }

  cudaStream_t stream() const { return stream_; }

 private:
  cudaStream_t stream_;
  std::vector<void*> taken_;
};

}  // namespace fp4proof::gpu::plugin
