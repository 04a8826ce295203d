#pragma once
// Inputs that a profile has no answer to.

#include <cstdint>
#include <span>

#include "formats/spec.h"

namespace fp4proof::suite {

/// Whether a quantize input has an answer under the profile. It has none where the profile refuses NaN or infinity, and
/// where the implementation that `mxfp4/ggml` reproduces runs into undefined behaviour of C: it converts a negative
/// number to an unsigned byte where the largest magnitude of a block lies below 2^-125, and NaN and infinity reach the
/// same conversion. No vector asks for those.
bool is_defined(const Profile& profile, std::span<const std::uint32_t> input);

}  // namespace fp4proof::suite
