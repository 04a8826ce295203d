#pragma once
// How the units of a stored tensor are to be read: what each is called, where it stands, what it means.

#include <cstdint>
#include <optional>
#include <string>

#include "conformance/cli/quantized_file.h"
#include "conformance/vectors/safetensors.h"
#include "reference/portable/geometry.h"

namespace fp4proof::cli {

/// A reading of one tensor. Without a quantized file behind it a unit is an element of the dtype (a byte for dtypes
/// of 6 bits); codes and scales of a quantized file in canonical packing are read as such.
struct TensorReading {
  enum class Kind : std::uint8_t { elements, bytes, codes, scales };

  Kind kind = Kind::elements;
  std::uint32_t unit_bits = 8;
  TensorDtype dtype = TensorDtype::u8;
  std::vector<std::uint64_t> shape;
  SharedProfile profile;        ///< codes and scales
  portable::Geometry geometry;  ///< codes and scales

  /// "elements", "bytes", "codes" or "scales".
  std::string unit_name() const;

  /// The place of a unit, for example "[3, 17]" or "row 3, block 0, element 17".
  std::string place(std::uint64_t index) const;

  /// The bits of a unit and what they mean, for example "0x3f800000 (1)".
  std::string describe(std::uint64_t unit) const;

  /// The bits of a unit, for example "0x3f800000".
  std::string bits(std::uint64_t unit) const;
};

/// The reading of the tensor `entry` of a file that was described by `quantized`, if it was.
TensorReading reading_of(const TensorEntry& entry, const std::optional<QuantizedFile>& quantized);

}  // namespace fp4proof::cli
