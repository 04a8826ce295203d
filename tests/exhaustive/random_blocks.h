#pragma once
// Random blocks that spend their time where rules differ: near powers of two, ties and clamps, in the subnormals, with
// special values. Addressed by (seed, block), so any range of blocks can be made alone.

#include <cstdint>
#include <span>

#include "formats/float_bits.h"
#include "formats/philox.h"

namespace fp4proof::exhaustive {

/// Fills one block. A block draws a style, a binade and a width; its elements follow.
inline void fill_random_block(std::uint64_t seed, std::uint64_t block, std::span<std::uint32_t> words) {
  const std::uint32_t style = random_word(seed, Stream::cases, 0, 4 * block) % 16;
  const std::uint32_t where = random_word(seed, Stream::cases, 0, 4 * block + 1);
  const std::uint32_t spread = random_word(seed, Stream::cases, 0, 4 * block + 2) % 8;
  const std::uint32_t special = random_word(seed, Stream::cases, 0, 4 * block + 3);
  std::uint32_t top = where % 255;         // any exponent field
  if (style < 10) top = 100 + where % 60;  // mostly around 1
  if (style == 10) top = where % 4;        // the bottom
  if (style == 11) top = 251 + where % 4;  // the top
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint32_t a = random_word(seed, Stream::cases, 1, block * words.size() + i);
    const std::uint32_t b = random_word(seed, Stream::cases, 2, block * words.size() + i);
    const std::uint32_t down = b % (spread + 1);
    std::uint32_t word = (a & 0x807FFFFFU) | ((top > down ? top - down : 0U) << 23);
    switch (style) {
      case 0:
      case 1: word &= 0xFFFF0000U; break;                                        // bfloat16
      case 2: word &= 0xFFF00000U; break;                                        // grid points and ties
      case 3: word = (word & 0xFFF00000U) + (b >> 16) % 3 - 1; break;            // an ulp around them
      case 4: word = (word & 0xFF800000U) - (b >> 16) % 64; break;               // just under powers of two
      case 5: word = (b >> 8) % 3 == 0 ? word : word & 0x80000000U; break;       // sparse, signed zeros
      case 6: word = (word & 0xFFE00000U) + (((b >> 16) % 3 - 1) << 12); break;  // around bfloat16 ties
      case 12: word = a; break;                                                  // uniform bits
      case 13: word = (a & 0x80000000U) | (a & 0x7FFFFFU) >> (b % 24); break;    // subnormal
      default: break;
    }
    if (style != 12 && (word & float_infinity_bits) == float_infinity_bits) word &= 0xFF7FFFFFU;
    words[i] = word;
  }
  if (style >= 14) {  // one special value, or up to four of any kind
    constexpr std::uint32_t specials[8] = {0x7F800000U, 0xFF800000U, 0x7FC00000U, 0xFF800001U,
                                           0x80000000U, 0x7F7FFFFFU, 0x00000001U, 0xFFFFFFFFU};
    const std::uint32_t count = style == 14 ? 1 : 2 + special % 3;
    for (std::uint32_t k = 0; k < count; ++k) {
      words[(special >> (5 * k)) % words.size()] = specials[(special >> (20 + 3 * k)) % 8];
    }
  }
}

}  // namespace fp4proof::exhaustive
