#pragma once
// The three operations over the tensors of a call.

#include "conformance/backend.h"
#include "tests/plugin/kernels/kernel.h"

namespace kernels {

void quantize(const Kernel& kernel, const fp4proof_call& call);
void dequantize(const Kernel& kernel, const fp4proof_call& call);
void multiply(const Kernel& kernel, const fp4proof_call& call);

/// Bytes of a scale.
inline std::size_t scale_bytes(const Kernel& kernel) { return kernel.family == Family::hif4 ? 4 : 1; }

/// Bytes of the codes of `elements` elements.
inline std::size_t code_bytes(const Kernel& kernel, std::size_t elements) {
  return kernel.format.bits == 4 ? elements / 2 : elements;
}

/// A tensor of the call by name, nullptr where there is none.
const fp4proof_tensor* tensor_named(const fp4proof_call& call, std::string_view name);

}  // namespace kernels
