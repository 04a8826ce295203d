#pragma once
// What a launch function of the CUDA path returns.

#include <cstdint>

namespace fp4proof::gpu {

/// Launch functions check their arguments on the host, put work on a stream and return. A fault of the device that
/// shows later is reported by the next synchronisation of the stream, as with every CUDA kernel.
enum class Status : std::uint8_t {
  ok,               ///< everything is on the stream
  invalid,          ///< shapes, pointers or choices that contradict each other; nothing was launched
  unsupported,      ///< a valid request that this path does not offer; nothing was launched
  small_workspace,  ///< the workspace is smaller than the size query says; nothing was launched
  launch_failed,    ///< cudaGetLastError() after a launch was not cudaSuccess
};

/// The status in words, for messages.
constexpr const char* status_text(Status status) {
  switch (status) {
    case Status::ok: return "ok";
    case Status::invalid: return "shapes, pointers or choices contradict each other";
    case Status::unsupported: return "not offered by the CUDA path";
    case Status::small_workspace: return "the workspace is too small";
    case Status::launch_failed: return "a kernel launch failed";
  }
  return "unknown status";
}

}  // namespace fp4proof::gpu
