#pragma once
// NVFP4 blocks: E2M1 elements, one E4M3 scale per 16, optionally one binary32 scale a tensor. Rules:
// docs/rules-nvfp4.md.

#include <cstdint>

#include "formats/block.h"
#include "formats/scale_codes.h"

namespace fp4proof {

/// The binary32 tensor scale for a largest finite magnitude: amax / 2688 rounded once, 1 where that is zero.
FP4PROOF_HD constexpr float nvfp4_tensor_scale(std::uint32_t amax_bits) {
  const float scale = float_from_bits(amax_bits) / 2688.0F;
  return scale == 0.0F ? 1.0F : scale;
}

/// The block scale: the exact amax / (6 * tensor_scale) to E4M3, ties to even, saturating at 448.
FP4PROOF_HD constexpr std::uint8_t nvfp4_scale_code(std::uint32_t amax_bits, float tensor_scale) {
  constexpr Magnitude six = {6, 0};
  const Magnitude divisor = product(six, magnitude_of_bits(float_bits(tensor_scale)));
  return encode_magnitude(element_spec(Element::e4m3), Rounding::rne, quotient(magnitude_of_bits(amax_bits), divisor));
}

/// The code of one element; under scale 0 every element is zero. Infinities clamp; NaN is coded +0.
FP4PROOF_HD constexpr std::uint8_t nvfp4_encode_element(const Profile& profile, std::uint8_t scale_code,
                                                        float tensor_scale, std::uint32_t word,
                                                        std::uint32_t random_word) {
  if (is_nan_bits(word)) return 0;
  if (is_inf_bits(word)) return signed_code(profile, word, element_spec(profile.element).max_code);
  if (scale_code == 0) return zero_code(profile, word, false);
  const Magnitude divisor =
      product(element_magnitude(element_spec(Element::e4m3), scale_code), magnitude_of_bits(float_bits(tensor_scale)));
  const Magnitude scaled = quotient(magnitude_of_bits(word), divisor);
  return signed_code(profile, word, round_scaled(profile, scaled, random_word), underflows_float(scaled));
}

/// The scale code of a block from its scan; e4m3_scale_nan where it becomes NaN.
FP4PROOF_HD constexpr std::uint8_t nvfp4_block_scale(const Profile& profile, const BlockScan& scan,
                                                     float tensor_scale) {
  if (block_fate(profile, scan) == BlockFate::nan_scale) return e4m3_scale_nan;
  return scan.has_inf ? e4m3_scale_max : nvfp4_scale_code(scan.amax_bits, tensor_scale);
}

/// One NVFP4 block to its scale code and element codes.
FP4PROOF_HD constexpr BlockStatus nvfp4_encode_block(const Profile& profile, const BlockEncoding& io) {
  const int size = profile.block.size();
  const BlockScan scan = scan_block(profile, io.words, size);
  switch (block_fate(profile, scan)) {
    case BlockFate::reject_nan: return BlockStatus::rejected_nan;
    case BlockFate::reject_inf: return BlockStatus::rejected_inf;
    case BlockFate::nan_scale: fill_block(io, profile.block, e4m3_scale_nan); return BlockStatus::ok;
    case BlockFate::quantize: break;
  }
  const std::uint8_t scale = nvfp4_block_scale(profile, scan, io.tensor_scale);
  fill_block(io, profile.block, scale);
  for (int i = 0; i < size; ++i) {
    io.codes[i] = nvfp4_encode_element(profile, scale, io.tensor_scale, prepared_word(profile, io.words[i]),
                                       io.random != nullptr ? io.random[i] : 0);
  }
  return BlockStatus::ok;
}

/// element * block scale * tensor scale, the exact product rounded once to binary32; NaN under 0x7F.
FP4PROOF_HD constexpr float nvfp4_decode_element(Element element, std::uint8_t scale_code, float tensor_scale,
                                                 std::uint8_t code) {
  if (scale_code == e4m3_scale_nan) return canonical_nan();
  return static_cast<float>(double{decode_element(element, code)} * double{decode_e4m3_scale(scale_code)} *
                            double{tensor_scale});
}

}  // namespace fp4proof
