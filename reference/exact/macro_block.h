#pragma once
// Macro-block scaling: the factor of a macro block and what it does to numbers. Rules C14 to C19 of
// docs/rules-corrections.md.

#include <cstdint>
#include <span>
#include <vector>

#include "formats/spec_corrections.h"
#include "reference/exact/rational.h"

namespace fp4proof::exact {

/// Rows of equal length; `matrix_rows` of them make one matrix.
struct MatrixShape {
  std::size_t rows = 0;
  std::size_t cols = 0;
  std::size_t matrix_rows = 0;
};

/// The byte b of a macro block whose largest finite magnitude is `largest` (0 where there is none): C15 and C16.
std::uint8_t macro_byte(Element element, MacroForm form, const Rational& largest);

/// f = 1 + b/256.
Rational macro_factor(std::uint8_t byte);

/// The weight g of a macro block in a product: RN(1 / f) or f, a binary32 word.
std::uint32_t macro_weight(MacroForm form, std::uint8_t byte);

/// What is quantized in place of x: RN(f x) or RN(x / f).
std::uint32_t macro_scaled(MacroForm form, std::uint8_t byte, std::uint32_t x);

/// What a decoded v stands for: RN(v / f) or RN(v f).
std::uint32_t macro_unscaled(MacroForm form, std::uint8_t byte, std::uint32_t v);

/// Macro blocks of a row.
std::size_t macro_blocks(const MacroSpec& spec, std::size_t cols);

/// The byte of every macro block, row-major [rows, macro blocks]; under a 2D profile every row of a tile has its byte.
std::vector<std::uint8_t> macro_bytes(const Profile& profile, const MacroSpec& spec, const MatrixShape& shape,
                                      std::span<const std::uint32_t> words);

}  // namespace fp4proof::exact
