#pragma once
// The head of a safetensors file: 8 bytes of little-endian length, then that many bytes of JSON, then the data.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/vectors/bytes.h"
#include "conformance/vectors/tensor_dtype.h"
#include "formats/result.h"

namespace fp4proof {

/// The free strings under `__metadata__`.
using SafetensorsMetadata = std::map<std::string, std::string>;

/// What a tensor is: dense, row-major, last dimension fastest.
struct TensorSpec {
  std::string name;  ///< UTF-8
  TensorDtype dtype = TensorDtype::u8;
  std::vector<std::uint64_t> shape;  ///< in elements, also for dtypes of 4 and 6 bits

  bool operator==(const TensorSpec&) const = default;
};

/// What a tensor is and where it lies.
struct TensorEntry {
  TensorSpec spec;
  std::uint64_t begin = 0;  ///< first byte, counted from the end of the header
  std::uint64_t end = 0;    ///< one past the last byte; end - begin == tensor_bytes(spec.dtype, spec.shape)

  std::uint64_t size() const { return end - begin; }
};

/// A checked header: tensors in file order, without overlaps or gaps, covering exactly the data.
struct SafetensorsHeader {
  SafetensorsMetadata metadata;
  std::vector<TensorEntry> tensors;
  std::uint64_t data_begin = 0;  ///< offset of the data in the file
  std::uint64_t data_bytes = 0;  ///< size of the data
};

/// The longest header, in bytes; the limit of the common implementations.
inline constexpr std::uint64_t longest_header = 100'000'000;

/// Reads and checks the header of a whole file. Every defect is a `corrupt` error that starts with `label` (for
/// example the quoted path) and names the tensor: truncated file; header length beyond the file or over
/// longest_header; header that does not start with '{' or is no strict JSON (parse_strict_json: duplicate names,
/// deep nesting, bad UTF-8); metadata that are no strings; missing, unknown or mistyped tensor fields; unknown dtype;
/// negative, fractional or absurd dimensions; a size that does not follow from dtype and shape; offsets that are
/// reversed, out of range, overlap, or leave bytes uncovered.
Result<SafetensorsHeader> parse_safetensors_header(Bytes file, std::string_view label);

/// A file before its data: `head` is the length, the JSON and its padding; `header` says where each tensor goes.
struct SafetensorsLayout {
  std::string head;
  SafetensorsHeader header;
};

/// Lays out a file. The result does not depend on the order of `tensors`:
/// data by descending dtype (the order of TensorDtype, so every tensor is aligned to its element), then by name, the
/// layout of the common implementations; JSON compact, `__metadata__` first when there are any, then tensors by name,
/// keys sorted, padded with spaces so that the data start at a multiple of 8 bytes.
/// `usage` error for a duplicate or reserved (`__metadata__`) name, text that is no UTF-8, a shape refused by
/// tensor_bytes(), a total over 2^63 - 1 bytes, or a header over longest_header.
Result<SafetensorsLayout> plan_safetensors(std::span<const TensorSpec> tensors, const SafetensorsMetadata& metadata);

}  // namespace fp4proof
