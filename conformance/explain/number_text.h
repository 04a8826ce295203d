#pragma once
// Exact numbers as text. Nothing here rounds silently: a cut decimal ends in "...".

#include <cstdint>
#include <string>

#include "reference/exact/rational.h"

namespace fp4proof::explain {

/// The number in decimal with at most `digits` significant digits. Where more digits are needed it is cut, not rounded,
/// and "..." stands for the rest: 2/3 with 4 digits is "0.6666...". Far from 1 the exponent form "1.1754...e-38".
std::string decimal_text(const exact::Rational& value, int digits = 9);

/// The number without loss: a hexadecimal float ("0x1.8p+2") or, where it is not binary, one divided by an odd whole
/// number ("0x1.4p+2/7").
std::string exact_text(const exact::Rational& value);

/// The shortest decimal that reads back as this binary32 word: "0.1", "-0", "inf", "nan".
std::string float_text(std::uint32_t word);

/// The hexadecimal float of a finite binary32 word; "inf", "-inf" or "nan" otherwise.
std::string hex_float_text(std::uint32_t word);

/// The word as "0x40c00000".
std::string word_text(std::uint32_t word);

/// The word in binary, its fields apart: sign.exponent.fraction.
std::string fields_text(std::uint32_t word);

/// The `bits` low bits of a code in binary.
std::string binary_text(std::uint32_t code, int bits);

}  // namespace fp4proof::explain
