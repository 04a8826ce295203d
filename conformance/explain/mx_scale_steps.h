#pragma once
// MX: from amax to the scale code, under every scale rule and arithmetic. Internal to the explanation.

#include <cstdint>

#include "conformance/explain/explanation.h"

namespace fp4proof::explain {

/// Adds the steps and returns the scale code; 255 only under ScaleArithmetic::word_add. `amax_bits` is the word of a
/// positive finite number.
std::uint8_t tell_mx_scale(std::uint32_t amax_bits, Explanation& explanation);

}  // namespace fp4proof::explain
