#pragma once
// Inputs for which the implementation that a profile reproduces has no answer of its own.

#include <cstdint>
#include <span>

#include "formats/spec.h"

namespace fp4proof::suite {

/// Whether the answer to a quantize input belongs to the named profile at all. `mxfp4/ggml` converts a negative number
/// to an unsigned byte where the largest magnitude of a block lies below 2^-125, and NaN and infinity reach the same
/// conversion: undefined behaviour of C. No vector asks for those.
bool is_defined(const Profile& profile, std::span<const std::uint32_t> input);

}  // namespace fp4proof::suite
