#pragma once
// Matrices that spend their time where rules differ, in every number format, and their random words.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "formats/philox.h"
#include "gpu/matrix.h"
#include "reference/portable/tensor.h"
#include "tests/exhaustive/random_blocks.h"

namespace fp4proof::gpu {

constexpr portable::DType portable_dtype(DType dtype) {
  switch (dtype) {
    case DType::f32: return portable::DType::f32;
    case DType::f16: return portable::DType::f16;
    default: return portable::DType::bf16;
  }
}

inline std::string name_of_dtype(DType dtype) {
  return dtype == DType::f32 ? "f32" : dtype == DType::f16 ? "f16" : "bf16";
}

/// The bytes of a whole input, filled with random blocks along its block axis. Half-precision formats take the upper
/// bits of each word (f16 those from bit 13 on, so that the exponent's middle varies).
inline std::vector<std::byte> random_matrices(const Profile& profile, DType dtype, const MatrixShape& shape,
                                              std::uint64_t seed) {
  const auto size = static_cast<std::size_t>(bytes_of(dtype));
  const int shift = dtype == DType::f32 ? 0 : dtype == DType::bf16 ? 16 : 13;
  std::vector<std::byte> bytes(static_cast<std::size_t>(shape.elements()) * size);
  std::vector<std::uint32_t> block(static_cast<std::size_t>(profile.block.size()));
  const int rows = profile.block.rows;
  const int columns = profile.block.cols;
  std::uint64_t number = 0;
  for (std::int64_t b = 0; b < shape.batch; ++b) {
    for (std::int64_t line = 0; line < shape.lines(); line += rows) {
      for (std::int64_t k = 0; k < shape.length(); k += columns) {
        exhaustive::fill_random_block(seed, number++, block);
        for (int i = 0; i < rows * columns; ++i) {
          if (line + i / columns >= shape.lines() || k + i % columns >= shape.length()) continue;
          const std::uint32_t word = block[static_cast<std::size_t>(i)] >> shift;
          const auto at = static_cast<std::size_t>(shape.element(b, line + i / columns, k + i % columns));
          std::memcpy(bytes.data() + at * size, &word, size);
        }
      }
    }
  }
  return bytes;
}

/// The words that the rules name for each place of the input.
inline std::vector<std::uint32_t> philox_words(const RandomSource& random, std::int64_t count) {
  std::vector<std::uint32_t> words(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = random_word(random.seed, random.stream, random.step, i);
  return words;
}

}  // namespace fp4proof::gpu
