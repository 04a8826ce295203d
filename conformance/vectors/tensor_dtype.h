#pragma once
// The element types of the safetensors format and the storage they need.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "formats/result.h"

namespace fp4proof {

/// Every dtype of the format, in its order: the alignment of an element never decreases.
enum class TensorDtype {
  boolean,
  f4,
  f6_e2m3,
  f6_e3m2,
  u8,
  i8,
  f8_e5m2,
  f8_e4m3,
  f8_e8m0,
  f8_e4m3fnuz,
  f8_e5m2fnuz,
  i16,
  u16,
  f16,
  bf16,
  i32,
  u32,
  f32,
  c64,
  f64,
  i64,
  u64,
};

/// The name in file headers, for example "F32", "BF16", "F8_E4M3", "BOOL".
std::string_view name_of(TensorDtype dtype);

/// The dtype of that name; none when the format has no such name. Case matters.
std::optional<TensorDtype> dtype_named(std::string_view name);

/// Bits of one element: 4, 6, 8, 16, 32 or 64. A boolean takes 8.
std::uint32_t bits_of(TensorDtype dtype);

/// The most dimensions a tensor may have.
inline constexpr std::size_t most_dimensions = 64;

/// Bytes of a dense tensor. A shape without dimensions is one element, a zero dimension makes the tensor empty.
/// `usage` error when there are more than 64 dimensions, when the product of the non-zero dimensions and the element
/// bits exceeds 2^63 - 1, or when elements of 4 or 6 bits do not fill a whole number of bytes.
Result<std::uint64_t> tensor_bytes(TensorDtype dtype, std::span<const std::uint64_t> shape);

}  // namespace fp4proof
