#pragma once
// Which elements of a residual are kept: rules C22 to C24 of docs/rules-corrections.md. Matrices are row-major, all
// rows of the tensor under one another.

#include <cstdint>
#include <span>
#include <vector>

#include "formats/spec_corrections.h"

namespace fp4proof::exact {

/// The two places that are kept of four consecutive columns, rising.
struct KeptPair {
  std::uint8_t first;
  std::uint8_t second;
};

/// The two largest |r| of four binary32 words, between equals the lower place; NaN counts as 0.
KeptPair kept_of_four(std::span<const std::uint32_t, 4> r);

/// The pairs of a row, one for every four of `padded` columns; what lies behind the end of the row counts as 0.
std::vector<KeptPair> kept_pairs(std::span<const std::uint32_t> row, std::size_t padded);

/// ceil(fraction * count).
std::size_t kept_count(float fraction, std::size_t count);

/// 1 where an element is kept, row-major [rows, cols]. `x` is what the inner quantizer took, `r` the residual.
std::vector<std::uint8_t> residual_mask(const ResidualSpec& spec, std::span<const std::uint32_t> x,
                                        std::span<const std::uint32_t> r, std::size_t rows, std::size_t cols);

}  // namespace fp4proof::exact
