#pragma once
// The random Hadamard transform of a matrix along its rows, in binary32 arithmetic: rules C10 to C12 of
// docs/rules-corrections.md.

#include <cstdint>
#include <span>
#include <vector>

#include "formats/spec_corrections.h"

namespace fp4proof::exact {

/// Whether the transform negates the elements of column `column`.
bool hadamard_negates(const HadamardSpec& spec, std::uint32_t product, std::uint64_t column);

/// The transform of a row-major matrix whose `columns` are a multiple of the size: signs, butterflies, factor.
std::vector<std::uint32_t> hadamard_transform(const HadamardSpec& spec, std::uint32_t product,
                                              std::span<const std::uint32_t> words, std::size_t columns);

/// Its inverse but for rounding: butterflies, factor, signs.
std::vector<std::uint32_t> hadamard_inverse(const HadamardSpec& spec, std::uint32_t product,
                                            std::span<const std::uint32_t> words, std::size_t columns);

}  // namespace fp4proof::exact
