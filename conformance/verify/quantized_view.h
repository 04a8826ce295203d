#pragma once
// Codes and scale words of a canonically packed matrix, one at a time.

#include <cstdint>
#include <vector>

#include "conformance/vectors/bytes.h"
#include "formats/packing.h"
#include "formats/spec.h"
#include "reference/portable/geometry.h"

namespace fp4proof::verify {

class QuantizedView {
 public:
  QuantizedView(const Profile& profile, const portable::Geometry& geometry, Bytes codes, Bytes scales)
      : profile_(&profile), geometry_(&geometry), codes_(codes), scales_(scales) {}

  std::uint8_t code(std::int64_t row, std::int64_t column) const {
    const Bytes bytes = codes_.subspan(static_cast<std::size_t>(row * geometry_->code_bytes_per_row));
    if (!element_spec(profile_->element).is_nibble()) return bytes[static_cast<std::size_t>(column)];
    return static_cast<std::uint8_t>((bytes[static_cast<std::size_t>(column / 2)] >> (4 * (column & 1))) & 0xF);
  }

  /// The scale byte, or the HiF4 scale word.
  std::uint32_t scale(std::int64_t row, std::int64_t block) const {
    const auto bytes = static_cast<std::int64_t>(scale_bytes(profile_->family));
    const std::uint8_t* at = scales_.data() + row * geometry_->scale_bytes_per_row + block * bytes;
    return bytes == 4 ? load_le32(at) : std::uint32_t{*at};
  }

  const Profile& profile() const { return *profile_; }
  const portable::Geometry& geometry() const { return *geometry_; }
  Bytes codes() const { return codes_; }
  Bytes scales() const { return scales_; }

 private:
  const Profile* profile_;
  const portable::Geometry* geometry_;
  Bytes codes_;
  Bytes scales_;
};

}  // namespace fp4proof::verify
