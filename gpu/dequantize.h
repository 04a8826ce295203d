#pragma once
// Codes and scales back to numbers.

#include <cuda_runtime_api.h>

#include "formats/spec.h"
#include "gpu/matrix.h"
#include "gpu/status.h"

namespace fp4proof::gpu {

struct DequantizeJob {
  Profile profile;
  CodedShape shape;  ///< coded_shape() of the matrix
  ConstCoded coded;
  DType dtype = DType::f32;  ///< of `values`
  void* values = nullptr;    ///< [batch, lines, length], block axis last; padding is not written
};

/// element * scale, the exact product rounded once to binary32, then, for f16 and bf16, once more to that format (ties
/// to even, overflow to infinity). NaN is canonical: 0x7FC00000, 0x7FC0, 0x7E00.
/// Status::invalid: extents that are negative or too large, a shape that is not one of the profile, missing pointers,
/// values that are not aligned to their type. Status::unsupported: a scale layout that the family does not have.
Status dequantize(const DequantizeJob& job, cudaStream_t stream);

}  // namespace fp4proof::gpu
