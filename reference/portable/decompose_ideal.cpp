#include "reference/portable/decompose_ideal.h"

#include <algorithm>

#include "reference/portable/decompose.h"

namespace fp4proof::portable {

namespace {

std::uint32_t largest_finite(const std::uint32_t* words, int count) {
  std::uint32_t largest = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint32_t magnitude = words[i] & float_magnitude_mask;
    if (magnitude < float_infinity_bits) largest = std::max(largest, magnitude);
  }
  return largest;
}

}  // namespace

int decomposition_factor(const Profile& profile) { return decomposition::factor(profile); }

IdealQuantizer::IdealQuantizer(const Profile& profile)
    : profile_(profile), factor_(decomposition::factor(profile)), full_scale_(decomposition::full_scale(profile)) {
  for (int code = 0; code <= element_spec(profile.element).max_code; ++code) {
    const auto c = static_cast<std::uint8_t>(code);
    levels_[c] = decomposition::ideal_level(profile, c);
  }
}

/// |word| over the unit of the block, largest / full scale.
Magnitude IdealQuantizer::over_unit(std::uint32_t word, const Magnitude& largest) const {
  return decomposition::over_unit(full_scale_, word, largest);
}

/// Whether the largest magnitude of a part of the block, over the unit, is at least 2^log2. Infinity always is.
bool IdealQuantizer::reaches(const std::uint32_t* words, const Magnitude& largest, const Part& part, int log2) const {
  std::uint32_t max = 0;
  for (int row = part.row; row < part.row + part.rows; ++row) {
    for (int column = part.column; column < part.column + part.columns; ++column) {
      const std::uint32_t magnitude = words[row * profile_.block.cols + column] & float_magnitude_mask;
      if (magnitude <= float_infinity_bits) max = std::max(max, magnitude);
    }
  }
  if (max == float_infinity_bits) return true;
  return max != 0 && floor_log2(over_unit(max, largest)) >= log2;
}

/// The sum of the two level bits at (row, column), a corner of a level-3 part.
int IdealQuantizer::level_bits(const std::uint32_t* words, const Magnitude& largest, int row, int column) const {
  const bool is_2d = profile_.block.is_2d();
  const Part eighth = {is_2d ? row / 8 * 8 : row, column / 8 * 8, is_2d ? 8 : 1, 8};
  const Part sixteenth = {row, column, is_2d ? 4 : 1, 4};
  const int level2 = reaches(words, largest, eighth, 2) ? 1 : 0;
  return level2 + (reaches(words, largest, sixteenth, 1 + level2) ? 1 : 0);
}

double IdealQuantizer::encode(std::uint32_t word, std::uint32_t random, const Magnitude& largest, double largest_value,
                              int bits) const {
  if (!is_finite_bits(word)) return 0.0;
  Magnitude scaled = over_unit(word, largest);
  scaled.exponent -= bits;
  const int random_bits = profile_.random_bits;
  const std::uint8_t code = encode_magnitude(element_spec(profile_.element), profile_.rounding, scaled,
                                             random_bits_of_word(random, random_bits), random_bits);
  const double value = largest_value * levels_[code] * pow2d(bits);
  return (word & float_sign_mask) != 0 ? -value : value;
}

void IdealQuantizer::encode_block(const std::uint32_t* words, const std::uint32_t* random, double* result) const {
  const BlockShape shape = profile_.block;
  const std::uint32_t largest_bits = largest_finite(words, shape.size());
  if (largest_bits == 0) {
    for (int i = 0; i < shape.size(); ++i) result[i] = (words[i] & float_sign_mask) != 0 ? -0.0 : 0.0;
    return;
  }
  const Magnitude largest = magnitude_of_bits(largest_bits);
  const double largest_value = double{float_from_bits(largest_bits)};
  const bool grouped = profile_.family == Family::hif4;
  const int rows = grouped && shape.is_2d() ? 4 : 1;
  const int columns = grouped ? 4 : shape.cols;
  for (int row = 0; row < shape.rows; row += rows) {
    for (int column = 0; column < shape.cols; column += columns) {
      const int bits = grouped ? level_bits(words, largest, row, column) : 0;
      for (int r = row; r < row + rows; ++r) {
        for (int c = column; c < column + columns; ++c) {
          const int i = r * shape.cols + c;
          result[i] = encode(words[i], random != nullptr ? random[i] : 0, largest, largest_value, bits);
        }
      }
    }
  }
}

}  // namespace fp4proof::portable
