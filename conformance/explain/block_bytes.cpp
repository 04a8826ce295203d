#include "conformance/explain/block_bytes.h"

#include "formats/packing.h"

namespace fp4proof::explain {

RowBytes row_bytes(const Explanation& explanation, int row) {
  const Profile& profile = *explanation.profile;
  const std::size_t columns = profile.block.cols;
  RowBytes bytes;
  const std::uint32_t scale = explanation.row_scales[static_cast<std::size_t>(row)];
  bytes.scale.resize(static_cast<std::size_t>(scale_bytes(profile.family)));
  if (profile.family == Family::hif4) {
    store_hif4_word(profile.micro_order, scale, bytes.scale.data());
  } else {
    bytes.scale[0] = static_cast<std::uint8_t>(scale);
  }
  for (std::size_t c = 0; c < columns; ++c) {
    bytes.codes.push_back(explanation.elements[static_cast<std::size_t>(row) * columns + c].code);
  }
  if (!element_spec(profile.element).is_nibble()) return bytes;
  std::vector<std::uint8_t> packed(packed_row_bytes(columns));
  pack_nibbles(profile.nibble_order, bytes.codes.data(), columns, packed.data());
  bytes.codes = std::move(packed);
  return bytes;
}

}  // namespace fp4proof::explain
