#include "reference/exact/hadamard.h"

#include "reference/exact/correction_arithmetic.h"
#include "reference/exact/extended.h"
#include "reference/exact/float_word.h"
#include "reference/exact/philox.h"

namespace fp4proof::exact {
namespace {

using Words = std::vector<std::uint32_t>;

void apply_signs(const HadamardSpec& spec, std::uint32_t product, std::size_t columns, Words& words) {
  for (std::size_t column = 0; column < columns; ++column) {
    if (!hadamard_negates(spec, product, column)) continue;
    for (std::size_t i = column; i < words.size(); i += columns) words[i] ^= float_sign;
  }
}

void butterfly_group(std::span<std::uint32_t> group) {
  for (std::size_t h = 1; h < group.size(); h *= 2) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      if ((i & h) != 0) continue;
      const std::uint32_t a = group[i];
      const std::uint32_t b = group[i + h];
      group[i] = add_floats(a, b);
      group[i + h] = subtract_floats(a, b);
    }
  }
}

/// Butterflies and factor of every group; groups never cross rows.
void transform_groups(std::size_t size, Words& words) {
  const std::uint32_t factor = round_to_float(Rational(1) / Rational(size == 16 ? 4 : 8));
  for (std::size_t first = 0; first < words.size(); first += size)
    butterfly_group(std::span(words).subspan(first, size));
  for (std::uint32_t& word : words) word = multiply_floats(word, factor);
}

}  // namespace

bool hadamard_negates(const HadamardSpec& spec, std::uint32_t product, std::uint64_t column) {
  if (spec.signs == HadamardSigns::none) return false;
  const std::uint32_t step = spec.signs == HadamardSigns::fresh ? product : 0;
  return random_word(spec.seed, hadamard_stream, step, column) >= 0x80000000U;
}

Words hadamard_transform(const HadamardSpec& spec, std::uint32_t product, std::span<const std::uint32_t> words,
                         std::size_t columns) {
  Words result(words.begin(), words.end());
  apply_signs(spec, product, columns, result);
  transform_groups(spec.size, result);
  return result;
}

Words hadamard_inverse(const HadamardSpec& spec, std::uint32_t product, std::span<const std::uint32_t> words,
                       std::size_t columns) {
  Words result(words.begin(), words.end());
  transform_groups(spec.size, result);
  apply_signs(spec, product, columns, result);
  for (std::uint32_t& word : result)
    if (is_nan(word)) word = float_nan;
  return result;
}

}  // namespace fp4proof::exact
