#pragma once
// From codes and scales back to binary32.

#include <cstdint>
#include <span>
#include <vector>

#include "formats/result.h"
#include "formats/spec.h"
#include "reference/portable/geometry.h"
#include "reference/portable/quantize.h"

namespace fp4proof::portable {

/// Dequantizes rows [begin, end): `codes` and `scales` hold exactly those rows in canonical packing, `values` receives
/// (end - begin) x columns numbers, row after row, without the padding.
/// value = element * scale, rounded once to binary32 with gradual underflow and overflow to infinity; blocks under a
/// NaN scale give the canonical NaN 0x7FC00000.
void dequantize_rows(const Profile& profile, const Geometry& geometry, float tensor_scale, std::int64_t rows,
                     std::span<const std::uint8_t> codes, std::span<const std::uint8_t> scales,
                     std::span<float> values);

/// Dequantizes a whole tensor to row-major [rows, columns], block axis last.
std::vector<float> dequantize(const Profile& profile, const Quantized& quantized);

/// Moves rows (block axis last) back to the order of the original tensor, whose axis `geometry.axis` was the block
/// axis.
std::vector<float> restore_axis(const Geometry& geometry, std::span<const float> values);

}  // namespace fp4proof::portable
