#pragma once

#include <string>

#include "conformance/cli/check_list.h"
#include "conformance/vectors/safetensors.h"

namespace fp4proof::cli {

/// Checks a file of quantized tensors: its metadata, and of each tensor the dtypes and shapes, that bits above a code's
/// width are zero, that padding is coded zero, and that codes under a NaN scale are zero; of a residual the same, and
/// that a 2:4 mask is kept. `name` starts each check.
void lint_quantized(const SafetensorsFile& file, const std::string& name, CheckList& checks);

}  // namespace fp4proof::cli
