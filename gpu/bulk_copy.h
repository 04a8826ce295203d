#pragma once
// Copies of whole pieces of memory into shared memory that run by themselves and report to a barrier there (PTX
// cp.async.bulk, mbarrier; compute capability 9.0).

#include <cstdint>

namespace fp4proof::gpu {

__device__ __forceinline__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

/// A barrier in shared memory that completes one phase after another. A phase completes when `count` arrivals and all
/// bytes that were announced have come.
struct SharedBarrier {
  std::uint64_t state;

  __device__ __forceinline__ void initialise(std::uint32_t count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&state)), "r"(count) : "memory");
  }

  __device__ __forceinline__ void arrive() {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&state)) : "memory");
  }

  /// Arrives and announces bytes that bulk copies will bring.
  __device__ __forceinline__ void arrive_expecting(std::uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&state)), "r"(bytes)
                 : "memory");
  }

  /// Waits until the phase with this parity has completed; the first phase has parity 0. A barrier that has completed
  /// none counts as having completed one of parity 1.
  __device__ __forceinline__ void wait(std::uint32_t parity) {
    asm volatile(
        "{.reg .pred done;\n"
        "again: mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@!done bra again;}" ::"r"(shared_address(&state)),
        "r"(parity)
        : "memory");
  }
};

/// Makes initialised barriers known to the copy engine.
__device__ __forceinline__ void publish_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// Starts a copy of `bytes` (a multiple of 16) between addresses that are multiples of 16.
__device__ __forceinline__ void start_bulk_copy(void* shared, const void* global, std::uint32_t bytes,
                                                SharedBarrier& barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                   shared_address(shared)),
               "l"(global), "r"(bytes), "r"(shared_address(&barrier.state))
               : "memory");
}

}  // namespace fp4proof::gpu
