#pragma once
// The binary formats: npy and safetensors with native dtypes.

#include <filesystem>
#include <string>

#include "conformance/export/words.h"
#include "conformance/vectors/safetensors.h"
#include "formats/result.h"

namespace fp4proof::exports {

/// The dtype that npy_content() gives a column: "|u1", "<u2", "<u4" or "<u8". Binary32 and binary64 numbers are
/// words, so that no reader touches a NaN. Words hold one number each.
std::string npy_dtype(const Words& words);

/// A file of NumPy (format 1.0), C order, shape [cases, ...]. Words hold one number each.
std::string npy_content(std::size_t cases, const Words& words);

/// Writes a safetensors file with one tensor a column, under the column's name, the bytes as in the set and the dtype
/// that says what they are: F4, F8_E4M3, F8_E5M2, F8_E8M0, F32, F64, U32; U8 where the format has none.
Result<void> write_native_safetensors(const std::filesystem::path& path, const GroupColumns& group,
                                      const SafetensorsMetadata& metadata);

}  // namespace fp4proof::exports
