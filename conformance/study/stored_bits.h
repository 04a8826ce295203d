#pragma once
// What a corrected tensor takes, in bits.

#include <cstdint>

#include "reference/portable/correct.h"

namespace fp4proof {

/// The bits that `corrected`, the correction of `tensor`, takes:
/// - element codes at the width of the element (6 for MXFP6, 3 for HiFX3), padding included;
/// - scales and macro bytes as products read them: a tile repeats its scale in each of its rows;
/// - 32 for the tensor scale of a profile that has one;
/// - of a residual: all its scales and macro bytes, and the codes of kept elements. `2:4` takes two codes and four bits
///   of places a group of four; masks by channels and tiles take one bit a column or tile.
std::uint64_t stored_bits(const portable::Corrected& corrected, const portable::TensorView& tensor);

}  // namespace fp4proof
