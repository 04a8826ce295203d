#pragma once
// A corrected tensor between memory and a file. It is held whole: masks and transforms look at all of it.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "conformance/cli/error_statistics.h"
#include "conformance/cli/quantized_file.h"
#include "conformance/cli/tensor_source.h"
#include "conformance/vectors/safetensors.h"
#include "formats/result.h"
#include "reference/portable/correct.h"

namespace fp4proof::cli {

/// Codes `source` under the profile and corrections of `file`, which must have some. An error names the tensor.
Result<portable::Corrected> correct_tensor(const QuantizedFile& file, const TensorSource& source,
                                           const portable::QuantizeOptions& options);

/// Writes all tensors of quantized_specs() for a corrected `source`, in the packing of `file`.
Result<void> write_corrected(SafetensorsWriter& writer, const QuantizedFile& file, const TensorSource& source,
                             const portable::QuantizeOptions& options, const portable::Corrected& corrected);

/// The errors of the corrected values `values` (row-major, block axis last), with every stored byte counted. Blocks
/// under NaN scales and saturated elements are those of the first part; the latter are unknown after a Hadamard
/// transform.
ErrorSums corrected_errors(const QuantizedFile& file, const TensorSource& source, portable::Corrected& corrected,
                           std::span<const float> values);

/// Bytes of all tensors of quantized_specs(), in canonical packing.
std::uint64_t corrected_bytes(const QuantizedFile& file, const portable::Geometry& geometry);

/// Reads one tensor of a file, corrected or plain (then under a stack that does nothing). The names in the result live
/// as long as `description`. Errors: those of QuantizedRows::open().
Result<portable::Corrected> read_corrected(const QuantizedFile& description, const TensorRecord& record,
                                           const SafetensorsFile& file, std::string_view label);

}  // namespace fp4proof::cli
