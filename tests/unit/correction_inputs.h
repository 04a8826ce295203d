#pragma once
// Tensors for the tests of corrections.

#include <cstdint>
#include <span>
#include <vector>

#include "formats/philox.h"
#include "reference/portable/correct.h"

namespace fp4proof::portable {

/// Numbers at many magnitudes, by groups of 64: around 1, grid points and ties, subnormals, mostly zeros, and now and
/// then uniform words with NaN and infinity.
inline std::vector<float> mixed_values(std::int64_t count, std::uint64_t seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto element = static_cast<std::uint64_t>(i);
    const std::uint32_t a = random_word(seed, Stream::cases, 0, element);
    const std::uint32_t kind = random_word(seed, Stream::cases, 1, element / 64) % 16;
    std::uint32_t word = (a & 0x80FFFFFFU) | 0x3F000000U;                    // two binades around 1
    if (kind < 6) word &= 0xFFFF0000U;                                       // bfloat16
    if (kind == 6) word &= 0xFFF00000U;                                      // grid points and ties
    if (kind == 7) word &= 0x807FFFFFU;                                      // subnormal
    if (kind == 8) word = a % 5 == 0 ? a & 0xBFFF0000U : (a & 0x80000000U);  // mostly zeros
    if (kind == 9) word = a;                                                 // anything
    if (kind == 10) word = (a & 0x81FFFFFFU) | 0x7E000000U;                  // up to the largest, NaN
    if (kind == 11) word = (a & 0x81FFFFFFU);                                // down to the smallest
    values[static_cast<std::size_t>(i)] = float_from_bits(word);
  }
  return values;
}

inline TensorView view_of(const std::vector<float>& values, std::span<const std::int64_t> shape) {
  return {DType::f32, shape, reinterpret_cast<const std::byte*>(values.data())};
}

/// A row of `count` elements equal to `value`.
inline std::vector<float> filled(std::size_t count, float value) { return std::vector<float>(count, value); }

inline std::vector<std::uint32_t> words_of(std::span<const float> values) {
  std::vector<std::uint32_t> words;
  for (const float value : values) words.push_back(float_bits(value));
  return words;
}

/// The code of a 4-bit element.
inline int nibble_of(const CodedPart& part, std::int64_t row, std::int64_t column) {
  const std::int64_t byte = row * part.quantized.geometry.code_bytes_per_row + column / 2;
  return (part.quantized.codes[static_cast<std::size_t>(byte)] >> (4 * (column & 1))) & 0xF;
}

inline int scale_of(const CodedPart& part, std::int64_t row, std::int64_t block) {
  return part.quantized.scales[static_cast<std::size_t>(row * part.quantized.geometry.scale_bytes_per_row + block)];
}

}  // namespace fp4proof::portable
