#include "conformance/verify/strided_groups.h"

#include <array>

#include "formats/hif4.h"

namespace fp4proof::verify {

namespace {

/// The sixteenth of adjacent elements that plays the part of strided sub-group k: its eighth is then k mod 8.
constexpr std::size_t adjacent_sixteenth(std::size_t k) { return 2 * (k % 8) + k / 8; }

}  // namespace

std::uint32_t strided_word(const Profile& profile, std::span<const std::uint32_t> words) {
  std::array<std::uint32_t, 64> gathered{};
  for (std::size_t i = 0; i < gathered.size(); ++i) gathered[4 * adjacent_sixteenth(i % 16) + i / 16] = words[i];
  std::uint32_t word = 0;
  std::array<std::uint8_t, 64> codes{};
  BlockEncoding io;
  io.words = gathered.data();
  io.row_scales = &word;
  io.codes = codes.data();
  if (hif4_encode_block(profile, io) != BlockStatus::ok) return 0;
  std::uint32_t level3 = 0;
  for (std::size_t k = 0; k < 16; ++k) level3 |= (word >> (16 + adjacent_sixteenth(k)) & 1U) << k;
  return hif4_word(hif4_e6m2(word), word >> 8 & 0xFFU, level3);
}

}  // namespace fp4proof::verify
