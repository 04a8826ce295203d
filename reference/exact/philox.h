#pragma once
// Philox4x32-10 and the random words of logical elements, written from Salmon et al., "Parallel Random Numbers: As Easy
// as 1, 2, 3" (SC11), and docs/randomness.md.

#include <array>
#include <cstdint>

namespace fp4proof::exact {

/// Ten rounds of Philox4x32 on a counter under a key.
std::array<std::uint32_t, 4> philox_4x32_10(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key);

/// The random word of logical element `element`: rules 2 to 4 of docs/randomness.md.
std::uint32_t random_word(std::uint64_t seed, std::uint32_t stream, std::uint32_t step, std::uint64_t element);

/// Number of the stream of Hadamard signs.
inline constexpr std::uint32_t hadamard_stream = 11;

}  // namespace fp4proof::exact
