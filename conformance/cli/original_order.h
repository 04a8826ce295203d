#pragma once
// Writing dequantized rows back in the order of the tensor they came from.

#include <span>
#include <string>

#include "conformance/cli/row_chunks.h"
#include "conformance/vectors/safetensors.h"
#include "formats/result.h"
#include "reference/portable/geometry.h"

namespace fp4proof::cli {

/// Writes rows `rows` of `values` (row-major, block axis last, `geometry.columns` numbers a row) to the F32 tensor
/// `name`, whose axis `geometry.axis` was the block axis.
Result<void> write_in_original_order(SafetensorsWriter& writer, const std::string& name,
                                     const portable::Geometry& geometry, RowRange rows, std::span<const float> values);

}  // namespace fp4proof::cli
