#pragma once
// One coded part of a quantized tensor of a file, read chunk by chunk in canonical packing, however the file is packed.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/cli/quantized_file.h"
#include "conformance/cli/row_chunks.h"
#include "conformance/vectors/safetensors.h"
#include "formats/result.h"
#include "reference/portable/quantize.h"

namespace fp4proof::cli {

/// The part of a corrected tensor; a plain one has the first alone.
enum class TensorPart : std::uint8_t { first, residual };

class QuantizedRows {
 public:
  /// Checks the tensors of `record` in `file`, which must outlive the result. A `corrupt` error where one is missing,
  /// has another dtype or shape, where the tensor scale is no positive finite number, or where the places of a packed
  /// residual are impossible; a packed residual is unpacked into memory.
  static Result<QuantizedRows> open(const QuantizedFile& description, const TensorRecord& record,
                                    const SafetensorsFile& file, std::string_view label,
                                    TensorPart part = TensorPart::first);

  /// The profile of the codes.
  const Profile& profile() const { return profile_; }
  /// The tensor, whatever the part.
  const std::string& name() const { return name_; }
  float tensor_scale() const { return tensor_scale_; }
  /// The macro bytes of the part, row after row; none without macro blocks.
  Bytes macro() const { return macro_; }

  /// The rows as they are read; they may be shorter than the tensor's (with_short_rows).
  const portable::Geometry& geometry() const { return geometry_; }

  /// Memory of the caller for chunks that have to be unpacked.
  struct Buffers {
    std::vector<std::uint8_t> codes;
    std::vector<std::uint8_t> scales;
  };

  /// Rows in canonical packing, in the file or in the caller's buffers.
  struct Canonical {
    std::span<const std::uint8_t> codes;
    std::span<const std::uint8_t> scales;
  };

  Canonical read(RowRange rows, Buffers& buffers) const;

  /// The whole tensor in memory, with its own rows.
  portable::Quantized read_all() const;

 private:
  QuantizedRows() = default;

  SharedProfile named_profile_;  // keeps the name in profile_ alive
  Profile profile_;
  std::string name_;
  Packing code_packing_ = Packing::canonical;
  Packing scale_packing_ = Packing::canonical;
  portable::Geometry stored_;
  portable::Geometry geometry_;
  std::shared_ptr<const std::vector<std::uint8_t>> unpacked_;  // what codes_ views, of a packed residual
  Bytes codes_;
  Bytes scales_;
  Bytes macro_;
  float tensor_scale_ = 1.0F;
};

/// The record of the tensor `name`; a `usage` error suggests the nearest name.
Result<const TensorRecord*> record_named(const QuantizedFile& file, const std::string& name, std::string_view label);

}  // namespace fp4proof::cli
