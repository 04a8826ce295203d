#pragma once
// A call of the plug-in interface (conformance/backend.h), read and checked.

#include <cstddef>
#include <cstdint>
#include <string>

#include "conformance/backend.h"
#include "formats/result.h"
#include "formats/spec.h"
#include "formats/spec_corrections.h"
#include "gpu/gemm.h"
#include "gpu/matrix.h"

namespace fp4proof::gpu::plugin {

enum class Operation : std::uint8_t { quantize, dequantize, gemm, correct, correct_gemm, decompose };

/// What a call asks for. The profile has the canonical packing of docs/vectors.md, whatever its own is.
struct Request {
  Operation operation = Operation::quantize;
  Profile profile;  ///< as named; `stack.effective(profile)` codes the elements
  CorrectionStack stack;
  Accumulator accumulator = Accumulator::seq512;
  MatrixShape shape;            ///< the batch is the cases
  std::int64_t other_rows = 0;  ///< products: rows of B

  Profile effective() const { return stack.effective(profile); }
};

/// ErrorKind::unsupported where the plug-in does not offer the call.
Result<Request> read_request(const fp4proof_call& call);

/// The address of a tensor of the call, which must have that name, elements of `element_bytes` bytes, and `bytes` bytes
/// in all; `const void*` of inputs, `void*` of outputs.
Result<const void*> find_input(const fp4proof_call& call, const std::string& name, std::int64_t element_bytes,
                               std::int64_t bytes);
Result<void*> find_output(const fp4proof_call& call, const std::string& name, std::int64_t element_bytes,
                          std::int64_t bytes);

}  // namespace fp4proof::gpu::plugin
