// quantize(X)^T == quantize(X^T) for every 2D profile and every tile size, to the bit; and not for rows of blocks.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "formats/float_bits.h"
#include "formats/philox.h"
#include "formats/spec_corrections.h"
#include "formats/spec_profiles.h"
#include "reference/portable/dequantize.h"
#include "reference/portable/quantize.h"
#include "tests/exhaustive/random_blocks.h"

namespace fp4proof {
namespace {

constexpr std::int64_t rows = 192;
constexpr std::int64_t columns = 128;

/// A quantized matrix with one entry an element: its code, the scale byte of its block row (E8M0 or E6M2), its value.
struct Elements {
  std::vector<std::uint8_t> codes;
  std::vector<std::uint8_t> scales;
  std::vector<std::uint32_t> values;
  bool operator==(const Elements&) const = default;
};

Elements elements_of(const Profile& profile, const portable::Quantized& quantized) {
  const portable::Geometry& geometry = quantized.geometry;
  const bool nibbles = element_spec(profile.element).is_nibble();
  const std::int64_t bytes = scale_bytes(profile.family);
  Elements all;
  for (const float value : portable::dequantize(profile, quantized)) all.values.push_back(float_bits(value));
  for (std::int64_t row = 0; row < geometry.rows; ++row) {
    for (std::int64_t column = 0; column < geometry.columns; ++column) {
      const std::int64_t at = row * geometry.code_bytes_per_row + (nibbles ? column / 2 : column);
      const std::uint8_t byte = quantized.codes[static_cast<std::size_t>(at)];
      all.codes.push_back(nibbles ? (column % 2 == 0 ? byte & 0xFU : byte >> 4) : byte);
      const std::int64_t block = row * geometry.blocks + column / profile.block.cols;
      all.scales.push_back(quantized.scales[static_cast<std::size_t>(block * bytes)]);
    }
  }
  return all;
}

template <class T>
std::vector<T> transposed(const std::vector<T>& matrix, std::int64_t height, std::int64_t width) {
  std::vector<T> result;
  for (std::int64_t column = 0; column < width; ++column)
    for (std::int64_t row = 0; row < height; ++row)
      result.push_back(matrix[static_cast<std::size_t>(row * width + column)]);
  return result;
}

Elements transposed(const Elements& all) {
  return {transposed(all.codes, rows, columns), transposed(all.scales, rows, columns),
          transposed(all.values, rows, columns)};
}

std::vector<std::uint32_t> random_words(std::uint64_t seed) {
  std::vector<std::uint32_t> words(static_cast<std::size_t>(rows * columns));
  // Strips of 64 share a style, so tiles mix magnitudes, ties, zeros and clamped ends, with few NaN and infinities.
  for (std::size_t strip = 0; strip * 64 < words.size(); ++strip)
    exhaustive::fill_random_block(seed, strip * 7919, std::span(words).subspan(strip * 64, 64));
  for (std::uint32_t& word : words)
    if (!is_finite_bits(word)) word = 0x3F800000U;
  words[5 * columns + 70] = canonical_nan_bits;
  words[150 * columns + 3] = float_infinity_bits;
  return words;
}

Elements quantized(const Profile& profile, const std::vector<std::uint32_t>& words, std::vector<std::int64_t> shape,
                   int axis = -1) {
  const portable::TensorView view{portable::DType::f32, shape, reinterpret_cast<const std::byte*>(words.data())};
  const auto result = portable::quantize(profile, view, {.axis = axis, .seed = 5});
  EXPECT_TRUE(result.ok()) << profile.name;
  return result.ok() ? elements_of(profile, *result) : Elements{};
}

std::vector<Profile> tiled_profiles() {
  std::vector<Profile> all;
  for (const Profile& profile : profiles())
    if (profile.block.is_2d()) all.push_back(profile);
  for (const char* name : {"mxfp4/ocp", "mxfp4/ceil", "mxfp4/rceil", "mxfp4/even", "mxfp4/nearest", "mxfp8-e4m3/rceil"})
    for (const char* stack : {"tile-8", "tile-16", "tile-32", "tile-64", "tile-32-sr"})
      all.push_back(find_correction_stack(stack)->effective(*find_profile(name)));
  return all;
}

TEST(TileTransposition, QuantizingTheTransposedMatrixTransposesTheBits) {
  int deterministic = 0;
  for (const Profile& profile : tiled_profiles()) {
    if (profile.rounding == Rounding::stochastic) continue;
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      const std::vector<std::uint32_t> words = random_words(seed);
      const Elements plain = quantized(profile, words, {rows, columns});
      const Elements turned = quantized(profile, transposed(words, rows, columns), {columns, rows});
      EXPECT_EQ(transposed(plain), turned) << profile.name << " tile " << int{profile.block.rows};
    }
    ++deterministic;
  }
  EXPECT_GE(deterministic, 30);
}

TEST(TileTransposition, StochasticRoundingToo) {
  // Along axis 0 the rows are the columns of X, and each element keeps its random word.
  int stochastic = 0;
  for (const Profile& profile : tiled_profiles()) {
    if (profile.rounding != Rounding::stochastic) continue;
    const std::vector<std::uint32_t> words = random_words(4);
    EXPECT_EQ(transposed(quantized(profile, words, {rows, columns})), quantized(profile, words, {rows, columns}, 0))
        << profile.name;
    ++stochastic;
  }
  EXPECT_GE(stochastic, 7);
}

TEST(TileTransposition, FailsForBlocksOfRows) {
  for (const char* name : {"mxfp4/ocp", "mxfp4/rceil", "hif4/gcc", "nvfp4/direct"}) {
    const Profile& profile = *find_profile(name);
    const std::vector<std::uint32_t> words = random_words(1);
    const Elements plain = transposed(quantized(profile, words, {rows, columns}));
    const Elements turned = quantized(profile, transposed(words, rows, columns), {columns, rows});
    EXPECT_NE(plain.values, turned.values) << name;
  }
  // The smallest such matrix: 32 x 32 zeros but for 8 and, in the same row, 0.5. Under the row's scale 2, 0.5 is a tie
  // and becomes 0; alone in its column it has a scale of its own and is kept.
  const Profile& profile = *find_profile("mxfp4/ocp");
  std::vector<std::uint32_t> words(32 * 32);
  words[0] = float_bits(8.0F);
  words[1] = float_bits(0.5F);
  EXPECT_EQ(quantized(profile, words, {32, 32}).values[1], float_bits(0.0F));
  EXPECT_EQ(quantized(profile, words, {32, 32}, 0).values[32], float_bits(0.5F));
}

}  // namespace
}  // namespace fp4proof
