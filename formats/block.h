#pragma once
// What the three block formats have in common: screening of special values, signs of zeros, one rounding step.
// mx.h, hif4.h and nvfp4.h build on it; encode_block and decode_block in block_codec.h choose among them.

#include <cstdint>

#include "formats/element.h"
#include "formats/float_bits.h"
#include "formats/magnitude.h"
#include "formats/spec.h"

namespace fp4proof {

/// Largest block of any profile: a 64x64 tile.
inline constexpr int max_block_size = 64 * 64;
inline constexpr int max_block_rows = 64;

enum class BlockStatus : std::uint8_t {
  ok,
  rejected_nan,  ///< the block holds a NaN and the profile says NanPolicy::error
  rejected_inf,  ///< the block holds an infinity and the profile says InfPolicy::error
};

/// One block in and out. All arrays belong to the caller.
/// `words` holds rows x cols binary32 words, row after row. `random` holds one 32-bit random word an element, or is
/// null where the profile does not round stochastically. `row_scales` receives one word a row: the scale byte for MX
/// and NVFP4, the 32-bit scale word (E6M2 lowest, then level-2 and level-3 bits, LSB first) for HiF4.
/// `codes` receives one code a byte.
struct BlockEncoding {
  const std::uint32_t* words = nullptr;
  const std::uint32_t* random = nullptr;
  float tensor_scale = 1.0F;
  std::uint32_t* row_scales = nullptr;
  std::uint8_t* codes = nullptr;
};

/// What a block holds besides ordinary numbers, and its largest finite magnitude.
struct BlockScan {
  std::uint32_t amax_bits = 0;
  bool has_nan = false;
  bool has_inf = false;
};

/// The word that the rest of the conversion sees: rounded to bfloat16 or flushed where the profile says so.
FP4PROOF_HD constexpr std::uint32_t prepared_word(const Profile& profile, std::uint32_t word) {
  if (profile.input_rounding == InputRounding::bf16) word = float_bits(round_to_bf16(float_from_bits(word)));
  const bool subnormal = (word & float_infinity_bits) == 0;
  if (profile.tiny == TinyPolicy::flush_inputs && subnormal) word &= float_sign_mask;
  return word;
}

FP4PROOF_HD constexpr BlockScan scan_block(const Profile& profile, const std::uint32_t* words, int size) {
  BlockScan scan;
  for (int i = 0; i < size; ++i) {
    const std::uint32_t magnitude = prepared_word(profile, words[i]) & float_magnitude_mask;
    if (magnitude > float_infinity_bits) {
      scan.has_nan = true;
    } else if (magnitude == float_infinity_bits) {
      scan.has_inf = true;
    } else if (magnitude > scan.amax_bits) {
      scan.amax_bits = magnitude;
    }
  }
  return scan;
}

/// The scan of two parts of a block together.
FP4PROOF_HD constexpr BlockScan merged(const BlockScan& a, const BlockScan& b) {
  return {a.amax_bits > b.amax_bits ? a.amax_bits : b.amax_bits, a.has_nan || b.has_nan, a.has_inf || b.has_inf};
}

/// Whether the whole block becomes NaN, is refused, or goes on.
enum class BlockFate : std::uint8_t { quantize, nan_scale, reject_nan, reject_inf };

FP4PROOF_HD constexpr BlockFate block_fate(const Profile& profile, const BlockScan& scan) {
  if (scan.has_nan && profile.nan == NanPolicy::error) return BlockFate::reject_nan;
  if (scan.has_nan && profile.nan == NanPolicy::scale_nan) return BlockFate::nan_scale;
  if (scan.has_nan && profile.nan == NanPolicy::scale_zero) return BlockFate::quantize;  // whatever else it holds
  if (scan.has_inf && profile.inf == InfPolicy::error) return BlockFate::reject_inf;
  if (scan.has_inf && profile.inf == InfPolicy::scale_nan) return BlockFate::nan_scale;
  return BlockFate::quantize;
}

/// Every code zero and every row scale `scale`.
FP4PROOF_HD constexpr void fill_block(const BlockEncoding& io, const BlockShape& shape, std::uint32_t scale) {
  for (int row = 0; row < shape.rows; ++row) io.row_scales[row] = scale;
  for (int i = 0; i < shape.size(); ++i) io.codes[i] = 0;
}

/// The zero code of an element under the profile's sign rule. `underflows` says that the scaled value rounds to zero
/// in binary32.
FP4PROOF_HD constexpr std::uint8_t zero_code(const Profile& profile, std::uint32_t word, bool underflows) {
  const bool negative = (word & float_sign_mask) != 0;
  const bool zero_input = (word & float_magnitude_mask) == 0;
  const bool keeps = profile.zero_sign == ZeroSign::kept ||
                     (profile.zero_sign == ZeroSign::zero_input_dropped && !zero_input) ||
                     (profile.zero_sign == ZeroSign::zero_scaled_dropped && !zero_input && !underflows);
  return negative && keeps ? element_spec(profile.element).sign_mask() : std::uint8_t{0};
}

/// A code from its magnitude code and the element's word.
FP4PROOF_HD constexpr std::uint8_t signed_code(const Profile& profile, std::uint32_t word, std::uint8_t magnitude_code,
                                               bool underflows = false) {
  if (magnitude_code == 0) return zero_code(profile, word, underflows);
  const std::uint8_t sign = (word & float_sign_mask) != 0 ? element_spec(profile.element).sign_mask() : std::uint8_t{0};
  return static_cast<std::uint8_t>(sign | magnitude_code);
}

/// A scaled magnitude through the profile's element arithmetic (exact, bf16, fp32_bf16) and rounding to a code.
FP4PROOF_HD constexpr std::uint8_t round_scaled(const Profile& profile, Magnitude scaled, std::uint32_t random_word) {
  if (profile.element_arithmetic == ElementArithmetic::fp32_bf16) scaled = round_to_precision(scaled, 24);
  if (profile.element_arithmetic == ElementArithmetic::bf16 ||
      profile.element_arithmetic == ElementArithmetic::fp32_bf16) {
    scaled = round_to_precision(scaled, 8);
  }
  const int bits = profile.random_bits;
  return encode_magnitude(element_spec(profile.element), profile.rounding, scaled,
                          random_bits_of_word(random_word, bits), bits);
}

}  // namespace fp4proof
