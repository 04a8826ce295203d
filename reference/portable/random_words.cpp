#include "reference/portable/random_words.h"

#include <algorithm>
#include <array>

#include "reference/portable/vectorize.h"

namespace fp4proof::portable {

namespace {

constexpr std::size_t line_blocks = 16;
constexpr int line_words = 4 * line_blocks;
constexpr int chunk_words = 16 * line_words;

using BlockLanes = std::array<std::uint32_t, line_blocks>;

/// philox_block() of neighbouring blocks side by side. Loops, not the lanes of lanes.h: g++ turns products of 64-bit
/// lanes into more than it needs. Left alone it vectorises over lines, of which there are few.
FP4PROOF_CLONES void draw_lines(Stream stream, std::uint32_t step, PhiloxKey key, std::uint64_t first_block, int lines,
                                std::uint32_t* words) {
  for (int line = 0; line < lines; ++line) {
    BlockLanes a;
    BlockLanes b;
    BlockLanes c;
    BlockLanes d;
    FP4PROOF_VECTORIZE_LOOP
    for (std::size_t i = 0; i < line_blocks; ++i) {
      const std::uint64_t block = first_block + i;
      a[i] = static_cast<std::uint32_t>(block);
      b[i] = static_cast<std::uint32_t>(block >> 32);
      c[i] = step;
      d[i] = static_cast<std::uint32_t>(stream);
    }
    PhiloxKey round_key = key;
    for (int round = 0; round < philox::rounds; ++round) {
      FP4PROOF_VECTORIZE_LOOP
      for (std::size_t i = 0; i < line_blocks; ++i) {
        const std::uint64_t product0 = philox::multiplier0 * a[i];
        const std::uint64_t product1 = philox::multiplier1 * c[i];
        a[i] = static_cast<std::uint32_t>(product1 >> 32) ^ b[i] ^ round_key.word[0];
        b[i] = static_cast<std::uint32_t>(product1);
        c[i] = static_cast<std::uint32_t>(product0 >> 32) ^ d[i] ^ round_key.word[1];
        d[i] = static_cast<std::uint32_t>(product0);
      }
      round_key.word[0] += philox::weyl0;
      round_key.word[1] += philox::weyl1;
    }
    FP4PROOF_VECTORIZE_LOOP
    for (std::size_t i = 0; i < line_blocks; ++i) {
      words[4 * i] = a[i];
      words[4 * i + 1] = b[i];
      words[4 * i + 2] = c[i];
      words[4 * i + 3] = d[i];
    }
    first_block += line_blocks;
    words += line_words;
  }
}

}  // namespace

void draw_random_words(std::uint64_t seed, Stream stream, std::uint32_t step, std::uint64_t first, int count,
                       std::uint32_t* words) {
  const PhiloxKey key = philox_key(seed);
  std::array<std::uint32_t, chunk_words> chunk;
  while (count > 0) {
    const auto skipped = static_cast<int>(first & 3U);
    const int taken = std::min(count, chunk_words - skipped);
    const int lines = (skipped + taken + line_words - 1) / line_words;
    const bool fits = skipped == 0 && taken % line_words == 0;
    draw_lines(stream, step, key, first >> 2, lines, fits ? words : chunk.data());
    if (!fits) std::copy_n(chunk.begin() + skipped, taken, words);
    first += static_cast<std::uint64_t>(taken);
    words += taken;
    count -= taken;
  }
}

}  // namespace fp4proof::portable
