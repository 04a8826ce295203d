#pragma once
// Which elements of a residual are kept. Rules C22 to C24 of docs/rules-corrections.md.

#include <cstdint>
#include <span>
#include <vector>

#include "formats/spec.h"
#include "formats/spec_corrections.h"
#include "reference/portable/geometry.h"

namespace fp4proof::portable {

/// ceil(fraction * count), exact, for a fraction of (0, 1].
std::int64_t kept_count(float fraction, std::int64_t count);

/// C22: flags of four consecutive columns, 1 where an element is kept.
void keep_two_of_four(const float* residual, std::uint8_t* kept);

/// One flag an element, row-major [rows, columns], 1 where the element is kept. `input` is the input of the inner
/// quantizer and `residual` the r of C20, both row-major [rows, columns].
std::vector<std::uint8_t> residual_mask(const ResidualSpec& spec, const Geometry& geometry,
                                        std::span<const float> input, std::span<const float> residual);

/// Makes every code outside the mask +0. `codes` is in canonical packing.
void apply_mask(const Profile& profile, const Geometry& geometry, std::span<const std::uint8_t> mask,
                std::span<std::uint8_t> codes);

}  // namespace fp4proof::portable
