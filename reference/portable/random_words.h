#pragma once
// The random words of neighbouring elements (formats/philox.h, docs/randomness.md), sixteen Philox blocks at a time.

#include <cstdint>

#include "formats/philox.h"

namespace fp4proof::portable {

/// words[i] := random_word(seed, stream, step, first + i) for i < count.
void draw_random_words(std::uint64_t seed, Stream stream, std::uint32_t step, std::uint64_t first, int count,
                       std::uint32_t* words);

}  // namespace fp4proof::portable
