#pragma once
// HiF4 micro-exponents as an emulator forms them that groups strided elements.

#include <cstdint>
#include <span>

#include "formats/spec.h"

namespace fp4proof::verify {

/// The scale word of a 1D HiF4 group if level-2 bit i mod 8 and level-3 bit i mod 16 belonged to element i. 64 finite
/// words.
std::uint32_t strided_word(const Profile& profile, std::span<const std::uint32_t> words);

}  // namespace fp4proof::verify
