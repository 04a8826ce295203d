#pragma once
// HiF4 groups: an E6M2 scale, eight level-2 bits, sixteen level-3 bits, elements S1P2 (or S1P1, S1P3); and the 2D form
// on 64x64 tiles. Rules: docs/rules-hif4.md.

#include <cstdint>

#include "formats/block.h"
#include "formats/scale_codes.h"

namespace fp4proof {

/// One group's metadata as the 32-bit scale word: E6M2 in bits 7:0, level-2 bit k at 8 + k, level-3 bit k at 16 + k.
FP4PROOF_HD constexpr std::uint32_t hif4_word(std::uint8_t e6m2, std::uint32_t level2, std::uint32_t level3) {
  return std::uint32_t{e6m2} | (level2 << 8) | (level3 << 16);
}
FP4PROOF_HD constexpr std::uint8_t hif4_e6m2(std::uint32_t word) { return static_cast<std::uint8_t>(word & 0xFFU); }
FP4PROOF_HD constexpr int hif4_level2(std::uint32_t word, int column) {
  return static_cast<int>((word >> (8 + column / 8)) & 1U);
}
FP4PROOF_HD constexpr int hif4_level3(std::uint32_t word, int column) {
  return static_cast<int>((word >> (16 + column / 4)) & 1U);
}

/// amax to the E6M2 code of the group. amax = 0 gives code 0 (2^-48), since E6M2 has no zero.
FP4PROOF_HD constexpr std::uint8_t hif4_scale_code(const Profile& profile, std::uint32_t amax_bits) {
  constexpr Magnitude bf16_seventh = {146, -10};  // 0x3E12
  constexpr Magnitude seven = {7, 0};
  const Magnitude amax = magnitude_of_bits(amax_bits);
  if (profile.seventh == SeventhRule::exact) return encode_e6m2(quotient(amax, seven), profile.scale_rounding);
  Magnitude wanted = product(amax, bf16_seventh);
  if (profile.seventh == SeventhRule::fp32_bf16_product) wanted = round_to_precision(wanted, 24);
  return encode_e6m2(round_to_precision(wanted, 8), profile.scale_rounding);
}

/// A magnitude times the reciprocal of the group's scale, before any rounding of the product.
FP4PROOF_HD constexpr Magnitude hif4_scaled(const Profile& profile, std::uint8_t e6m2, std::uint32_t word) {
  const Magnitude m = magnitude_of_bits(word);
  return profile.reciprocal == Reciprocal::exact ? quotient(m, e6m2_magnitude(e6m2))
                                                 : product(m, e6m2_reciprocal_bf16(e6m2));
}

/// Whether max * reciprocal >= 2^log2_threshold, the product rounded as the profile says. Infinity always is.
FP4PROOF_HD constexpr bool hif4_reaches(const Profile& profile, std::uint8_t e6m2, std::uint32_t max_bits,
                                        int log2_threshold) {
  if (max_bits == float_infinity_bits) return true;
  if (max_bits == 0) return false;
  Magnitude m = hif4_scaled(profile, e6m2, max_bits);
  if (profile.threshold_arithmetic == ThresholdArithmetic::fp32) m = round_to_precision(m, 24);
  if (profile.threshold_arithmetic == ThresholdArithmetic::bf16) m = round_to_precision(m, 8);
  return floor_log2(m) >= log2_threshold;
}

/// The level-2 bit of a part whose largest magnitude is `max_bits` (infinity included), and the level-3 bit of a part
/// that stands under the level-2 bit `above`.
FP4PROOF_HD constexpr bool hif4_level2_bit(const Profile& profile, std::uint8_t e6m2, std::uint32_t max_bits) {
  return hif4_reaches(profile, e6m2, max_bits, 2);
}
FP4PROOF_HD constexpr bool hif4_level3_bit(const Profile& profile, std::uint8_t e6m2, std::uint32_t max_bits,
                                           bool above) {
  return hif4_reaches(profile, e6m2, max_bits, above ? 2 : 1);
}

/// Rows that share their level-2 and level-3 bits.
FP4PROOF_HD constexpr int hif4_level2_rows(const Profile& profile) { return profile.block.is_2d() ? 8 : 1; }
FP4PROOF_HD constexpr int hif4_level3_rows(const Profile& profile) { return profile.block.is_2d() ? 4 : 1; }

/// The code of one element, given the sum of its two level bits. Infinities clamp; NaN is coded +0.
FP4PROOF_HD constexpr std::uint8_t hif4_encode_element(const Profile& profile, std::uint8_t e6m2, int levels,
                                                       std::uint32_t word, std::uint32_t random_word) {
  if (is_nan_bits(word)) return 0;
  if (is_inf_bits(word)) return signed_code(profile, word, element_spec(profile.element).max_code);
  Magnitude m = hif4_scaled(profile, e6m2, word);
  m.exponent -= levels;
  return signed_code(profile, word, round_scaled(profile, m, random_word), underflows_float(m));
}

namespace hif4_detail {

/// Largest magnitude (infinity included, NaN skipped) of the part of a tile that starts at (row, column).
FP4PROOF_HD constexpr std::uint32_t part_max(const Profile& profile, const std::uint32_t* words, int row, int column,
                                             int rows, int columns) {
  std::uint32_t max = 0;
  for (int r = row; r < row + rows; ++r) {
    for (int c = column; c < column + columns; ++c) {
      const std::uint32_t m = prepared_word(profile, words[r * profile.block.cols + c]) & float_magnitude_mask;
      if (m <= float_infinity_bits && m > max) max = m;
    }
  }
  return max;
}

/// The level bits of the row band that holds `row`.
FP4PROOF_HD constexpr std::uint32_t level2_bits(const Profile& profile, const std::uint32_t* words, int row,
                                                std::uint8_t e6m2) {
  const int rows = hif4_level2_rows(profile);
  const int band = row - row % rows;
  std::uint32_t bits = 0;
  for (int k = 0; k < hif4_level2_count; ++k) {
    const std::uint32_t max = part_max(profile, words, band, 8 * k, rows, 8);
    if (hif4_level2_bit(profile, e6m2, max)) bits |= 1U << k;
  }
  return bits;
}

FP4PROOF_HD constexpr std::uint32_t level3_bits(const Profile& profile, const std::uint32_t* words, int row,
                                                std::uint8_t e6m2, std::uint32_t level2) {
  const int rows = hif4_level3_rows(profile);
  const int band = row - row % rows;
  std::uint32_t bits = 0;
  for (int k = 0; k < hif4_level3_count; ++k) {
    const std::uint32_t max = part_max(profile, words, band, 4 * k, rows, 4);
    const bool above = ((level2 >> (k / 2)) & 1U) != 0;
    if (hif4_level3_bit(profile, e6m2, max, above)) bits |= 1U << k;
  }
  return bits;
}

/// The scale word of one row of the block.
FP4PROOF_HD constexpr std::uint32_t row_word(const Profile& profile, const std::uint32_t* words, int row,
                                             std::uint8_t e6m2) {
  const std::uint32_t level2 = level2_bits(profile, words, row, e6m2);
  return hif4_word(e6m2, level2, level3_bits(profile, words, row, e6m2, level2));
}

}  // namespace hif4_detail

/// The E6M2 code of a group or tile from its scan; e6m2_nan where it becomes NaN.
FP4PROOF_HD constexpr std::uint8_t hif4_block_scale(const Profile& profile, const BlockScan& scan) {
  if (block_fate(profile, scan) == BlockFate::nan_scale) return e6m2_nan;
  return scan.has_inf ? e6m2_max : hif4_scale_code(profile, scan.amax_bits);
}

/// One HiF4 group (or 64x64 tile) to its scale words and element codes.
FP4PROOF_HD constexpr BlockStatus hif4_encode_block(const Profile& profile, const BlockEncoding& io) {
  const BlockShape shape = profile.block;
  const BlockScan scan = scan_block(profile, io.words, shape.size());
  switch (block_fate(profile, scan)) {
    case BlockFate::reject_nan: return BlockStatus::rejected_nan;
    case BlockFate::reject_inf: return BlockStatus::rejected_inf;
    case BlockFate::nan_scale: fill_block(io, shape, e6m2_nan); return BlockStatus::ok;
    case BlockFate::quantize: break;
  }
  const std::uint8_t e6m2 = hif4_block_scale(profile, scan);
  for (int row = 0; row < shape.rows; ++row) {
    const bool shares_band = row % 4 != 0;  // rows of one 4-row band carry the same bits
    io.row_scales[row] = shares_band ? io.row_scales[row - 1] : hif4_detail::row_word(profile, io.words, row, e6m2);
    for (int column = 0; column < shape.cols; ++column) {
      const int i = row * shape.cols + column;
      const int levels = hif4_level2(io.row_scales[row], column) + hif4_level3(io.row_scales[row], column);
      io.codes[i] = hif4_encode_element(profile, e6m2, levels, prepared_word(profile, io.words[i]),
                                        io.random != nullptr ? io.random[i] : 0);
    }
  }
  return BlockStatus::ok;
}

/// E6M2 * 2^(level bits) * element, exact; NaN under 0xFF.
FP4PROOF_HD constexpr float hif4_decode_element(Element element, std::uint32_t word, int column, std::uint8_t code) {
  if (hif4_e6m2(word) == e6m2_nan) return canonical_nan();
  const int levels = hif4_level2(word, column) + hif4_level3(word, column);
  return decode_e6m2(hif4_e6m2(word)) * pow2f(levels) * decode_element(element, code);
}

}  // namespace fp4proof
