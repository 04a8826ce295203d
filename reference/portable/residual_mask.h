#pragma once
// Which elements of a residual are kept. Rules C22 to C24 of docs/rules-corrections.md.

#include <cstdint>
#include <span>
#include <vector>

#include "formats/residual_mask.h"
#include "formats/spec.h"
#include "formats/spec_corrections.h"
#include "reference/portable/geometry.h"

namespace fp4proof::portable {

/// One flag an element, row-major [rows, columns], 1 where the element is kept. `input` is the input of the inner
/// quantizer and `residual` the r of C20, both row-major [rows, columns].
std::vector<std::uint8_t> residual_mask(const ResidualSpec& spec, const Geometry& geometry,
                                        std::span<const float> input, std::span<const float> residual);

/// Makes every code outside the mask +0. `codes` is in canonical packing.
void apply_mask(const Profile& profile, const Geometry& geometry, std::span<const std::uint8_t> mask,
                std::span<std::uint8_t> codes);

}  // namespace fp4proof::portable
