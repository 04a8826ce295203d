#pragma once
// The portable error decomposition of one matrix against the oracle, bit for bit: every term, the sums of every block
// and of every row, and the total.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/float_bits.h"
#include "formats/philox.h"
#include "reference/exact/block.h"
#include "reference/exact/decomposition.h"
#include "reference/portable/decompose.h"
#include "tests/exhaustive/random_blocks.h"

namespace fp4proof::exhaustive {

/// A matrix of binary32 words that its dtype holds exactly, block axis last.
struct Matrix {
  portable::DType dtype = portable::DType::f32;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<std::uint32_t> words;
};

/// Elements j * n * 2^e under a maximum j * d * 2^e: with d = 24, 56 or 60 they hit the ideal thresholds of every
/// element exactly, the deadzone's edge included.
inline void fill_tie_block(std::uint64_t seed, std::uint64_t block, std::span<std::uint32_t> words) {
  constexpr std::uint32_t divisors[4] = {24, 56, 60, 28};
  const std::uint32_t where = random_word(seed, Stream::cases, 3, block);
  const std::uint32_t d = divisors[where % 4];
  const auto j = static_cast<float>(1 + (where >> 2) % 31);
  const int exponent = static_cast<int>((where >> 8) % 200) - 120;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint32_t draw = random_word(seed, Stream::cases, 4, block * words.size() + i);
    const std::uint32_t n = i == where % words.size() ? d : (draw >> 1) % (d + 1) >> (draw >> 16) % 4;
    const float value = j * static_cast<float>(n) * pow2f(exponent);
    words[i] = float_bits((draw & 1U) != 0 ? -value : value);
  }
}

/// Rounds words to what the dtype holds.
inline void make_representable(portable::DType dtype, std::vector<std::uint32_t>& words) {
  for (std::uint32_t& word : words) {
    if (dtype == portable::DType::bf16) word &= 0xFFFF0000U;
    if (dtype == portable::DType::f16) word = float_bits(fp16_to_float(static_cast<std::uint16_t>(word >> 13)));
  }
}

/// Random blocks, one in four of them full of ideal ties, laid out as a matrix of `tiles` x `blocks` blocks whose last
/// column block lacks `missing` columns.
inline Matrix random_matrix(const Profile& profile, portable::DType dtype, std::uint64_t seed, std::uint64_t first,
                            std::int64_t tiles, std::int64_t blocks, std::int64_t missing = 0) {
  Matrix matrix{dtype, tiles * profile.block.rows, blocks * profile.block.cols - missing, {}};
  matrix.words.resize(static_cast<std::size_t>(matrix.rows * matrix.columns));
  std::vector<std::uint32_t> block(static_cast<std::size_t>(profile.block.size()));
  for (std::int64_t t = 0; t < tiles * blocks; ++t) {
    const std::uint64_t number = first + static_cast<std::uint64_t>(t);
    number % 4 == 3 ? fill_tie_block(seed, number, block) : fill_random_block(seed, number, block);
    for (std::int64_t i = 0; i < profile.block.size(); ++i) {
      const std::int64_t row = t / blocks * profile.block.rows + i / profile.block.cols;
      const std::int64_t column = t % blocks * profile.block.cols + i % profile.block.cols;
      if (column < matrix.columns)
        matrix.words[static_cast<std::size_t>(row * matrix.columns + column)] = block[static_cast<std::size_t>(i)];
    }
  }
  make_representable(dtype, matrix.words);
  return matrix;
}

/// The matrix in the bytes of its dtype.
inline std::vector<std::byte> bytes_of_matrix(const Matrix& matrix) {
  const auto size = static_cast<std::size_t>(portable::bytes_of(matrix.dtype));
  std::vector<std::byte> bytes(matrix.words.size() * size);
  for (std::size_t i = 0; i < matrix.words.size(); ++i) {
    std::uint32_t word = matrix.words[i];
    if (matrix.dtype == portable::DType::bf16) word >>= 16;
    if (matrix.dtype == portable::DType::f16) {
      // The words come from fp16_to_float, so the number is exact: shift the fraction, rebias, or count subnormal
      // units.
      const std::uint32_t sign = (word >> 16) & 0x8000U;
      const std::uint32_t magnitude = word & float_magnitude_mask;
      if (magnitude >= float_infinity_bits) {
        word = sign | 0x7C00U | ((magnitude >> 13) & 0x3FFU);
      } else if (magnitude < float_bits(0x1p-14F)) {
        word = sign | static_cast<std::uint32_t>(float_from_bits(magnitude) * 0x1p24F);
      } else {
        word = sign | ((magnitude - float_bits(0x1p-14F) + float_bits(0x1p-126F)) >> 13);
      }
    }
    std::memcpy(bytes.data() + i * size, &word, size);
  }
  return bytes;
}

inline std::array<std::uint64_t, exact::split_sum_count> sum_words(const portable::ErrorSplit& split) {
  const auto word = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  return {word(split.value),      word(split.quantized_value), word(split.error),
          word(split.scale),      word(split.deadzone),        word(split.grid),
          word(split.scale_grid), word(split.scale_deadzone)};
}

inline bool same_split(const portable::ErrorSplit& ours, const exact::SplitSums& expected) {
  const exact::SplitSums words{ours.elements, ours.excluded,          ours.in_deadzone, ours.zeroed,
                               ours.inexact,  ours.identity_failures, sum_words(ours)};
  return words == expected;
}

inline bool same_terms(const portable::ErrorTerms& ours, const exact::SplitElement& expected) {
  const auto word = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  const exact::TermWords words{word(ours.error), word(ours.scale), word(ours.deadzone), word(ours.grid)};
  return words == exact::term_words(expected);
}

/// The oracle's elements of the whole matrix, row-major.
inline std::vector<exact::SplitElement> split_matrix(const Profile& profile, const Matrix& matrix,
                                                     const portable::QuantizeOptions& options,
                                                     const std::vector<std::uint32_t>& quantized) {
  std::vector<exact::SplitElement> all(matrix.words.size());
  const std::uint32_t tensor_scale = exact::tensor_scale_word(profile, matrix.words);
  const std::int64_t block_rows = profile.block.rows;
  const std::int64_t block_cols = profile.block.cols;
  const std::int64_t bands = (matrix.rows + block_rows - 1) / block_rows;
  const std::int64_t blocks = (matrix.columns + block_cols - 1) / block_cols;
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t t = 0; t < bands * blocks; ++t) {
    const auto size = static_cast<std::size_t>(profile.block.size());
    std::vector<std::uint32_t> words(size), random(size), values(quantized.empty() ? 0 : size);
    std::vector<std::int64_t> places(size, -1);
    for (std::size_t i = 0; i < size; ++i) {
      const std::int64_t row = t / blocks * block_rows + static_cast<std::int64_t>(i) / block_cols;
      const std::int64_t column = t % blocks * block_cols + static_cast<std::int64_t>(i) % block_cols;
      if (row >= matrix.rows || column >= matrix.columns) continue;
      places[i] = row * matrix.columns + column;
      const auto place = static_cast<std::size_t>(places[i]);
      words[i] = matrix.words[place];
      random[i] = random_word(options.seed, options.stream, options.step, place);
      if (!quantized.empty()) values[i] = quantized[place];
    }
    const exact::SplitBlock block = exact::split_block(profile, words, random, tensor_scale, values);
    for (std::size_t i = 0; i < size && !block.rejected; ++i)
      if (places[i] >= 0) all[static_cast<std::size_t>(places[i])] = block.elements[i];
  }
  return all;
}

/// Decomposes a matrix on both roads. Answers what differs first, or nothing. `quantized`: binary32 words of another
/// Q(x), or empty.
inline std::string difference(const Profile& profile, const Matrix& matrix, const portable::QuantizeOptions& options,
                              const std::vector<std::uint32_t>& quantized = {}) {
  const std::vector<std::byte> bytes = bytes_of_matrix(matrix);
  const std::vector<std::int64_t> shape = {matrix.rows, matrix.columns};
  const portable::TensorView view{matrix.dtype, shape, bytes.data()};
  const auto geometry = portable::cut_into_blocks(profile, shape, -1, options.tail);
  if (!geometry) return geometry.error().message;
  std::vector<float> values;
  for (const std::uint32_t word : quantized) values.push_back(float_from_bits(word));
  std::vector<portable::ErrorSplit> rows(static_cast<std::size_t>(matrix.rows));
  std::vector<portable::ErrorSplit> blocks(static_cast<std::size_t>(matrix.rows * geometry->blocks));
  std::vector<portable::ErrorTerms> terms(matrix.words.size());
  const auto done =
      portable::decompose_rows(profile, view, *geometry, options, portable::tensor_scale_of(profile, view), 0,
                               matrix.rows, values, {.rows = rows, .blocks = blocks, .elements = terms});
  if (!done) return done.error().message;
  const auto total = portable::decompose(profile, view, options, values);
  if (!total) return total.error().message;

  const std::vector<exact::SplitElement> expected = split_matrix(profile, matrix, options, quantized);
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (!same_terms(terms[i], expected[i])) return "element " + std::to_string(i);
  exact::SplitSums expected_total;
  std::vector<exact::SplitSums> expected_rows(rows.size());
  std::vector<exact::SplitSums> expected_blocks(blocks.size());
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    const std::span<const exact::SplitElement> elements(expected.data() + row * matrix.columns,
                                                        static_cast<std::size_t>(matrix.columns));
    expected_rows[static_cast<std::size_t>(row)] = exact::sum_row(profile, elements);
    for (std::int64_t b = 0; b < geometry->blocks; ++b) {
      const auto first = static_cast<std::size_t>(b) * profile.block.cols;
      const std::size_t length = std::min<std::size_t>(profile.block.cols, elements.size() - first);
      expected_blocks[static_cast<std::size_t>(row * geometry->blocks + b)] =
          exact::sum_row(profile, elements.subspan(first, length));
    }
  }
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (!same_split(blocks[i], expected_blocks[i])) return "sums of block " + std::to_string(i);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    if (!same_split(rows[row], expected_rows[row])) return "sums of row " + std::to_string(row);
    expected_total.add(expected_rows[row]);
  }
  return same_split(*total, expected_total) ? std::string() : "total";
}

}  // namespace fp4proof::exhaustive
