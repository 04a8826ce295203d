#pragma once
// Numbers as people write them.

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/result.h"

namespace fp4proof::explain {

/// Binary32 words from a list separated by commas or white space. Each is a decimal ("0.1", "-3e-5"), a hexadecimal
/// float ("0x1.8p+2", known by its p), the bits of a word ("0x40c00000", one to eight digits), "inf" or "nan", with a
/// sign where it makes sense. Decimals are rounded once, ties to even. `usage` error that names the first text that is
/// no such number, one that is too large or too small for binary32, an empty item ("1,,2"), and an empty list.
Result<std::vector<std::uint32_t>> parse_values(std::string_view text);

/// 32-bit words from such a list, each in decimal or as "0x" and up to eight hexadecimal digits.
Result<std::vector<std::uint32_t>> parse_words(std::string_view text);

}  // namespace fp4proof::explain
