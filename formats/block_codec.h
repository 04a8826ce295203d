#pragma once
// One block of any profile, to codes and back. The scalar ground of the fast road.

#include <cstdint>

#include "formats/hif4.h"
#include "formats/mx.h"
#include "formats/nvfp4.h"

namespace fp4proof {

/// Encodes one block of `profile.block` elements. Returns rejected_* and leaves the outputs untouched where the
/// profile refuses the block.
FP4PROOF_HD constexpr BlockStatus encode_block(const Profile& profile, const BlockEncoding& io) {
  switch (profile.family) {
    case Family::mx: return mx_encode_block(profile, io);
    case Family::hif4: return hif4_encode_block(profile, io);
    case Family::nvfp4: return nvfp4_encode_block(profile, io);
  }
  return BlockStatus::ok;
}

/// Decodes the element at `column` of a block row from that row's scale word (see BlockEncoding::row_scales).
FP4PROOF_HD constexpr float decode_block_element(const Profile& profile, std::uint32_t row_scale, float tensor_scale,
                                                 int column, std::uint8_t code) {
  switch (profile.family) {
    case Family::mx: return mx_decode_element(profile.element, static_cast<std::uint8_t>(row_scale), code);
    case Family::hif4: return hif4_decode_element(profile.element, row_scale, column, code);
    case Family::nvfp4:
      return nvfp4_decode_element(profile.element, static_cast<std::uint8_t>(row_scale), tensor_scale, code);
  }
  return canonical_nan();
}

}  // namespace fp4proof
