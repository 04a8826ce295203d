#pragma once
// Blocks: from words to codes and back under a profile, for every family. The rules are written out one element at a
// time on exact numbers; docs/rules-*.md give them in prose.

#include <cstdint>
#include <span>
#include <vector>

#include "formats/spec.h"

namespace fp4proof::exact {

/// One encoded block in logical form, before any packing.
struct EncodedBlock {
  bool rejected = false;             ///< the profile refuses the block (NanPolicy::error or InfPolicy::error)
  std::uint8_t scale = 0;            ///< E8M0, E6M2 or E4M3 code
  std::vector<std::uint8_t> level2;  ///< HiF4: one bit per eighth, row-major over the block (8 in 1D, 8x8 in 2D)
  std::vector<std::uint8_t> level3;  ///< HiF4: one bit per sixteenth, row-major (16 in 1D, 16x16 in 2D)
  std::vector<std::uint8_t> codes;   ///< one element code a byte, row-major
  bool operator==(const EncodedBlock&) const = default;
};

/// Encodes one block. `words`: block.rows x block.cols binary32 words, row-major. `random_words`: one 32-bit word per
/// element under Rounding::stochastic (its high Profile::random_bits bits are spent), empty otherwise. `tensor_scale`:
/// binary32 word of the tensor scale, NVFP4 alone.
EncodedBlock encode_block(const Profile& profile, std::span<const std::uint32_t> words,
                          std::span<const std::uint32_t> random_words = {}, std::uint32_t tensor_scale = 0x3F800000U);

/// The binary32 words that the block stands for, each rounded once, NaN as 0x7FC00000.
std::vector<std::uint32_t> decode_block(const Profile& profile, const EncodedBlock& block,
                                        std::uint32_t tensor_scale = 0x3F800000U);

/// NVFP4: the tensor scale amax / 2688 as binary32 over the finite elements; 1 where the profile has none, where all
/// are zero and where it underflows.
std::uint32_t tensor_scale_word(const Profile& profile, std::span<const std::uint32_t> words);

/// One row of a block as a block of its own that shares the scale: a 2D block is stored as such rows.
EncodedBlock block_row(const Profile& profile, const EncodedBlock& block, int row);

/// HiF4: the four scale bytes of one block row: E6M2, eight level-2 bits, sixteen level-3 bits, in the profile's
/// MicroOrder inside each byte.
std::vector<std::uint8_t> hif4_scale_bytes(const Profile& profile, const EncodedBlock& block, int row = 0);

}  // namespace fp4proof::exact
