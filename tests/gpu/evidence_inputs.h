#pragma once
// Inputs of the evidence for the CUDA path: made from the index of the element, on the device and on the host.

#include <cstdint>

#include "formats/float_bits.h"
#include "formats/host_device.h"
#include "formats/spec.h"
#include "gpu/matrix.h"
#include "tests/gpu/evidence_digest.h"

namespace fp4proof::evidence {

using gpu::DType;

/// How numbers are spread.
enum class Spread : std::uint8_t {
  bits,      ///< every bit pattern; NaN and infinity in one of four regions alone, where they take over tiles
  bell,      ///< sums of uniform numbers, from -2 to 2
  wide,      ///< finite; magnitudes of a neighbourhood within 2^16, neighbourhoods anywhere
  outliers,  ///< bell, one number of 256 larger by 2^8
};

constexpr const char* text_of(Spread spread) {
  switch (spread) {
    case Spread::bits: return "bits";
    case Spread::bell: return "bell";
    case Spread::wide: return "wide";
    case Spread::outliers: return "outliers";
  }
  return "";
}

constexpr const char* text_of(DType dtype) {
  return dtype == DType::f32 ? "f32" : dtype == DType::f16 ? "f16" : "bf16";
}

namespace inputs_detail {

inline constexpr int neighbourhood_log2 = 9;
inline constexpr int region_log2 = 19;
inline constexpr std::uint32_t wide_binades = 16;

/// A sum of four uniform numbers of 16 bits: an integer from -2^17 to 2^17.
FP4PROOF_HD constexpr std::int32_t bell_integer(std::uint64_t hash) {
  std::int32_t sum = 0;
  for (int i = 0; i < 4; ++i) sum += static_cast<std::int32_t>(hash >> (16 * i) & 0xFFFFU) - 0x8000;
  return sum;
}

/// The exponent field of a number of a neighbourhood, `fields` of which are finite.
FP4PROOF_HD constexpr std::uint32_t wide_exponent(std::uint64_t seed, std::uint64_t index, std::uint64_t hash,
                                                  std::uint32_t fields) {
  const std::uint64_t place = mix64(seed + 1 + (index >> neighbourhood_log2));
  return static_cast<std::uint32_t>((place % fields + (hash >> 32) % wide_binades) % fields);
}

/// Clears a bit of a NaN or an infinity outside of the regions that have them; `exponent` is the mask of the field.
FP4PROOF_HD constexpr std::uint32_t bits_word(std::uint64_t seed, std::uint64_t index, std::uint32_t word,
                                              std::uint32_t exponent) {
  const bool stays = (word & exponent) != exponent || mix64(seed + 1 + (index >> region_log2)) % 4 == 0;
  return stays ? word : word & ~(exponent & -exponent);
}

FP4PROOF_HD constexpr std::uint32_t word_of(Spread spread, std::uint64_t seed, std::uint64_t index,
                                            std::uint64_t hash) {
  if (spread == Spread::bits) return bits_word(seed, index, static_cast<std::uint32_t>(hash), 0x7F800000U);
  if (spread == Spread::wide) {
    return (static_cast<std::uint32_t>(hash) & 0x807FFFFFU) | wide_exponent(seed, index, hash, 255) << 23;
  }
  const float scale = spread == Spread::outliers && hash % 256 == 0 ? 0x1p-8F : 0x1p-16F;
  return float_bits(static_cast<float>(bell_integer(hash)) * scale);
}

/// The binary16 word of an integer multiple of 2^-9 below 2^9 that has at most 11 bits.
FP4PROOF_HD constexpr std::uint16_t half_of(float value) {
  const std::uint32_t word = float_bits(value);
  const std::uint32_t magnitude = word & float_magnitude_mask;
  const std::uint32_t half = magnitude == 0 ? 0 : (magnitude >> 13) - ((127U - 15U) << 10);
  return static_cast<std::uint16_t>((word >> 16 & 0x8000U) | half);
}

FP4PROOF_HD constexpr std::uint16_t half_word_of(Spread spread, std::uint64_t seed, std::uint64_t index,
                                                 std::uint64_t hash) {
  if (spread == Spread::bits) {
    return static_cast<std::uint16_t>(bits_word(seed, index, static_cast<std::uint16_t>(hash), 0x7C00U));
  }
  if (spread == Spread::wide) {
    return static_cast<std::uint16_t>((hash & 0x83FFU) | wide_exponent(seed, index, hash, 31) << 10);
  }
  const float scale = spread == Spread::outliers && hash % 256 == 0 ? 0x1p-1F : 0x1p-9F;
  return half_of(static_cast<float>(bell_integer(hash) / 128) * scale);
}

}  // namespace inputs_detail

/// The word of element `index` in the low bits.
FP4PROOF_HD constexpr std::uint32_t input_word(DType dtype, Spread spread, std::uint64_t seed, std::uint64_t index) {
  using namespace inputs_detail;
  const std::uint64_t hash = mix64(mix64(seed) + index);
  if (dtype == DType::f16) return half_word_of(spread, seed, index, hash);
  const std::uint32_t word = word_of(spread, seed, index, hash);
  return dtype == DType::bf16 ? word >> 16 : word;
}

/// How the scales of operands of a product are spread.
enum class ScaleSpread : std::uint8_t {
  near,   ///< within a few binades
  mixed,  ///< near, but one of eight regions of 64 lines has any scales, NaN too
};

/// The tensor scale of matrices whose codes are made.
FP4PROOF_HD constexpr float made_tensor_scale(std::uint64_t seed) {
  return 1.0F + static_cast<float>(mix64(seed + 4) % 4096) * 0x1p-11F;
}

/// A byte of codes at `position`: finite elements.
FP4PROOF_HD constexpr std::uint8_t code_byte(Element element, std::uint64_t seed, std::uint64_t position) {
  const auto byte = static_cast<std::uint8_t>(mix64(mix64(seed) + position));
  const ElementSpec spec = element_spec(element);
  if (spec.is_nibble()) return byte;
  const auto magnitude_mask = static_cast<std::uint8_t>(spec.sign_mask() - 1);
  const auto code = static_cast<std::uint8_t>(byte & (spec.sign_mask() | magnitude_mask));
  const bool is_finite = (code & magnitude_mask) <= spec.max_code;
  return static_cast<std::uint8_t>(is_finite ? code : code & ~0x40);
}

/// Byte `byte` of the scale of block `block` in line `line`.
FP4PROOF_HD constexpr std::uint8_t scale_byte(Family family, ScaleSpread spread, std::uint64_t seed, std::int64_t line,
                                              std::int64_t block, int byte) {
  const std::uint64_t hash = mix64(mix64(seed + 2) + (static_cast<std::uint64_t>(line) << 24) +
                                   (static_cast<std::uint64_t>(block) << 2) + static_cast<std::uint64_t>(byte));
  if (byte != 0) return static_cast<std::uint8_t>(hash);
  const std::uint64_t region = mix64(seed + 3 + static_cast<std::uint64_t>(line / 64));
  const bool is_any = spread == ScaleSpread::mixed && region % 8 == 0;
  if (is_any) return static_cast<std::uint8_t>(family == Family::nvfp4 ? hash & 0x7FU : hash);
  switch (family) {
    case Family::mx: return static_cast<std::uint8_t>(124 + hash % 7);
    case Family::hif4: return static_cast<std::uint8_t>((45 + hash % 7) << 2 | (hash >> 8 & 3U));
    case Family::nvfp4: return static_cast<std::uint8_t>(0x28 + hash % 32);
  }
  return 0;
}

}  // namespace fp4proof::evidence
