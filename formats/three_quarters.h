#pragma once
// Three-quarters (C28 of docs/rules-corrections.md): the scale of a block is that of x, the elements are RN(0.75 x).

#include "formats/mx.h"

namespace fp4proof {

/// RN(0.75 x); NaN and infinity stay what they are.
FP4PROOF_HD constexpr std::uint32_t three_quarters_of(std::uint32_t word) {
  return is_finite_bits(word) ? float_bits(0.75F * float_from_bits(word)) : word;
}

/// One MX block or tile whose profile neither refuses nor changes its inputs (check_stack() sees to that).
FP4PROOF_HD constexpr BlockStatus three_quarters_block(const Profile& profile, const BlockEncoding& io) {
  const BlockScan scan = scan_block(profile, io.words, profile.block.size());
  const std::uint8_t scale = mx_block_scale(profile, scan);
  fill_block(io, profile.block, scale);
  if (scale == e8m0_nan) return BlockStatus::ok;
  for (int i = 0; i < profile.block.size(); ++i) {
    io.codes[i] =
        mx_encode_element(profile, scale, three_quarters_of(io.words[i]), io.random != nullptr ? io.random[i] : 0);
  }
  return BlockStatus::ok;
}

}  // namespace fp4proof
