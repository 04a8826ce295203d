#pragma once
// Codes and scale words of a canonically packed matrix, one at a time.

#include <cstdint>
#include <vector>

#include "conformance/vectors/bytes.h"
#include "formats/hif4.h"
#include "formats/packing.h"
#include "formats/scale_codes.h"
#include "formats/spec.h"
#include "reference/portable/geometry.h"

namespace fp4proof::verify {

/// Whether a scale byte, or HiF4 scale word, is NaN.
constexpr bool is_nan_scale(const Profile& profile, std::uint32_t scale) {
  switch (profile.family) {
    case Family::mx: return scale == e8m0_nan;
    case Family::hif4: return hif4_e6m2(scale) == e6m2_nan;
    case Family::nvfp4: return (scale & 0x7FU) == e4m3_scale_nan;
  }
  return false;
}

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
