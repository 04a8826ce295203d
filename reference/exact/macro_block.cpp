#include "reference/exact/macro_block.h"

#include <algorithm>

#include "reference/exact/correction_arithmetic.h"
#include "reference/exact/element.h"
#include "reference/exact/extended.h"
#include "reference/exact/float_word.h"

namespace fp4proof::exact {
namespace {

constexpr std::uint32_t smallest_normal = 0x00800000U;

std::uint8_t top_mantissa_bits(std::uint32_t word) { return static_cast<std::uint8_t>((word >> 15) & 0xFFU); }

std::uint8_t multiplying_byte(const Rational& max, const Rational& largest) {
  const std::uint32_t q = round_to_float(max / largest);
  if (is_infinity(q)) return 0;
  const std::uint8_t b = top_mantissa_bits(q);
  const int k = -float_value(q).floor_log2();
  const bool exceeds = macro_factor(b) * largest > max.scaled(k);
  if (!exceeds) return b;
  return b == 0 ? std::uint8_t{255} : static_cast<std::uint8_t>(b - 1);
}

std::uint8_t dividing_byte(const Rational& max, const Rational& largest) {
  const std::uint32_t q = round_to_float(largest / max);
  return q < smallest_normal ? std::uint8_t{0} : top_mantissa_bits(q);
}

/// The largest finite magnitude of rows [top, bottom) and columns [left, right).
Rational largest_magnitude(std::span<const std::uint32_t> words, std::size_t cols, std::size_t top, std::size_t bottom,
                           std::size_t left, std::size_t right) {
  Rational result;
  for (std::size_t r = top; r < bottom; ++r) {
    for (std::size_t c = left; c < right; ++c) {
      const std::uint32_t word = words[r * cols + c];
      if (is_nan(word) || is_infinity(word)) continue;
      result = std::max(result, float_value(word).abs());
    }
  }
  return result;
}

}  // namespace

std::uint8_t macro_byte(Element element, MacroForm form, const Rational& largest_magnitude) {
  if (largest_magnitude.is_zero()) return 0;
  const Rational& max = largest(element);
  return form == MacroForm::multiply ? multiplying_byte(max, largest_magnitude) : dividing_byte(max, largest_magnitude);
}

Rational macro_factor(std::uint8_t byte) { return Rational(256 + byte).scaled(-8); }

std::uint32_t macro_weight(MacroForm form, std::uint8_t byte) {
  const Rational f = macro_factor(byte);
  return round_to_float(form == MacroForm::multiply ? Rational(1) / f : f);
}

std::uint32_t macro_scaled(MacroForm form, std::uint8_t byte, std::uint32_t x) {
  const Rational f = macro_factor(byte);
  return form == MacroForm::multiply ? multiply_floats(x, round_to_float(f)) : divide_float(x, f);
}

std::uint32_t macro_unscaled(MacroForm form, std::uint8_t byte, std::uint32_t v) {
  return macro_scaled(form == MacroForm::multiply ? MacroForm::divide : MacroForm::multiply, byte, v);
}

std::size_t macro_blocks(const MacroSpec& spec, std::size_t cols) {
  return spec.is_on() ? (cols + spec.size - 1) / spec.size : 0;
}

std::vector<std::uint8_t> macro_bytes(const Profile& profile, const MacroSpec& spec, const MatrixShape& shape,
                                      std::span<const std::uint32_t> words) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t row = 0; row < shape.rows; ++row) {
    const std::size_t matrix = row / shape.matrix_rows * shape.matrix_rows;
    const std::size_t height = profile.block.is_2d() ? spec.size : 1;
    const std::size_t top = matrix + (row - matrix) / height * height;
    const std::size_t bottom = std::min(top + height, matrix + shape.matrix_rows);
    for (std::size_t left = 0; left < shape.cols; left += spec.size) {
      const std::size_t right = std::min<std::size_t>(left + spec.size, shape.cols);
      bytes.push_back(
          macro_byte(profile.element, spec.form, largest_magnitude(words, shape.cols, top, bottom, left, right)));
    }
  }
  return bytes;
}

}  // namespace fp4proof::exact
