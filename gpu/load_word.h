#pragma once
// Elements of an unquantized matrix as binary32 words, on the device.

#include <cstdint>

#include "formats/float_bits.h"
#include "gpu/matrix.h"

namespace fp4proof::gpu {

/// The element at `place`, widened exactly; payloads of NaN are kept.
template <DType D>
__device__ inline std::uint32_t load_word(const void* matrix, std::int64_t place) {
  if constexpr (D == DType::f32) return static_cast<const std::uint32_t*>(matrix)[place];
  const std::uint16_t half = static_cast<const std::uint16_t*>(matrix)[place];
  return D == DType::bf16 ? std::uint32_t{half} << 16 : float_bits(fp16_to_float(half));
}

/// Calls `use` with the number format as a compile-time constant: use.template operator()<D>().
#pragma nv_exec_check_disable
template <class Use>
__host__ __device__ decltype(auto) with_dtype(DType dtype, Use use) {
  switch (dtype) {
    case DType::f32: return use.template operator()<DType::f32>();
    case DType::f16: return use.template operator()<DType::f16>();
    default: return use.template operator()<DType::bf16>();
  }
}

}  // namespace fp4proof::gpu
