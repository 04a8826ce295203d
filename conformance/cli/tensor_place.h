#pragma once
// FILE:TENSOR on the command line.

#include <string>
#include <string_view>

#include "formats/result.h"

namespace fp4proof::cli {

/// A file and the name of a tensor in it.
struct TensorPlace {
  std::string file;
  std::string tensor;
};

/// Splits FILE:TENSOR, where both may hold colons: behind the first ".safetensors"; without that ending at the first
/// colon with an existing file before it, or at the last one where there is none. A `usage` error for a text without a
/// file or a tensor; `what` names it, for example "gemm: operand".
Result<TensorPlace> parse_tensor_place(const std::string& text, std::string_view what);

}  // namespace fp4proof::cli
