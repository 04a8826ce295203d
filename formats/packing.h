#pragma once
// How element codes and HiF4 scale words become bytes. The places are pure functions of indices, so any thread can
// write or read any element.

#include <cstddef>
#include <cstdint>

#include "formats/host_device.h"
#include "formats/spec.h"

namespace fp4proof {

// ---------------------------------------------------------------------------------------------------------------------
// Nibbles: two 4-bit codes a byte
// ---------------------------------------------------------------------------------------------------------------------

/// Where a 4-bit code stands in a packed row.
struct NibblePlace {
  std::size_t byte;  ///< byte of the row
  int shift;         ///< 0: low nibble, 4: high nibble
  constexpr bool operator==(const NibblePlace&) const = default;
};

/// Bytes of a packed row of `elements` codes; an even number, as blocks are even.
FP4PROOF_HD constexpr std::size_t packed_row_bytes(std::size_t elements) { return elements / 2; }

/// The place of element `element` (0-based, in the row) of a row of blocks of `block_size` (even) elements.
/// Blocks follow one another in every order; only `split` depends on the block size.
FP4PROOF_HD constexpr NibblePlace nibble_place(NibbleOrder order, std::size_t element, std::size_t block_size) {
  if (order == NibbleOrder::split) {
    const std::size_t half = block_size / 2;
    const std::size_t within = element % block_size;
    return {element / block_size * half + within % half, within < half ? 0 : 4};
  }
  const bool odd = element % 2 != 0;
  const bool high = odd == (order == NibbleOrder::even_low);
  return {element / 2, high ? 4 : 0};
}

/// The inverse of nibble_place: the element of the row that stands at `place`.
FP4PROOF_HD constexpr std::size_t nibble_element(NibbleOrder order, NibblePlace place, std::size_t block_size) {
  const bool high = place.shift != 0;
  if (order == NibbleOrder::split) {
    const std::size_t half = block_size / 2;
    return place.byte / half * block_size + place.byte % half + (high ? half : 0);
  }
  const bool odd = high == (order == NibbleOrder::even_low);
  return 2 * place.byte + (odd ? 1 : 0);
}

/// Packs one block: `codes` holds `block_size` (even) codes, one a byte, of which the low four bits count; `bytes`
/// receives block_size / 2 bytes.
FP4PROOF_HD constexpr void pack_nibbles(NibbleOrder order, const std::uint8_t* codes, std::size_t block_size,
                                        std::uint8_t* bytes) {
  for (std::size_t byte = 0; byte < block_size / 2; ++byte) {
    const unsigned low = codes[nibble_element(order, {byte, 0}, block_size)] & 0xFU;
    const unsigned high = codes[nibble_element(order, {byte, 4}, block_size)] & 0xFU;
    bytes[byte] = static_cast<std::uint8_t>(low | (high << 4));
  }
}

/// Unpacks one block: the inverse of pack_nibbles.
FP4PROOF_HD constexpr void unpack_nibbles(NibbleOrder order, const std::uint8_t* bytes, std::size_t block_size,
                                          std::uint8_t* codes) {
  for (std::size_t element = 0; element < block_size; ++element) {
    const NibblePlace place = nibble_place(order, element, block_size);
    codes[element] = static_cast<std::uint8_t>((bytes[place.byte] >> place.shift) & 0xF);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Words
// ---------------------------------------------------------------------------------------------------------------------

/// A 32-bit word as four bytes, lowest first, whatever the machine.
FP4PROOF_HD constexpr void store_le32(std::uint32_t word, std::uint8_t* bytes) {
  for (int i = 0; i < 4; ++i) bytes[i] = static_cast<std::uint8_t>(word >> (8 * i));
}

FP4PROOF_HD constexpr std::uint32_t load_le32(const std::uint8_t* bytes) {
  std::uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word |= std::uint32_t{bytes[i]} << (8 * i);
  return word;
}

// ---------------------------------------------------------------------------------------------------------------------
// HiF4 scale words
// ---------------------------------------------------------------------------------------------------------------------

/// Each byte of a word with its bits in reverse order; the bytes keep their places.
FP4PROOF_HD constexpr std::uint32_t reverse_bits_in_bytes(std::uint32_t word) {
  word = ((word & 0x0F0F0F0FU) << 4) | ((word >> 4) & 0x0F0F0F0FU);
  word = ((word & 0x33333333U) << 2) | ((word >> 2) & 0x33333333U);
  return ((word & 0x55555555U) << 1) | ((word >> 1) & 0x55555555U);
}

/// Turns a scale word from one micro-exponent order into the other; its own inverse. The E6M2 byte is a number, not a
/// list of bits, and stays as it is.
FP4PROOF_HD constexpr std::uint32_t swap_micro_order(std::uint32_t word) {
  return (reverse_bits_in_bytes(word) & 0xFFFFFF00U) | (word & 0xFFU);
}

/// The four stored bytes of a HiF4 scale word (E6M2 in bits 7:0, level-2 bit k at 8 + k, level-3 bit k at 16 + k):
/// E6M2, level 2, level 3 of sub-groups 0..7, level 3 of sub-groups 8..15. In the last three bytes sub-group k stands
/// at bit k mod 8 (`lsb_first`) or at bit 7 - k mod 8 (`msb_first`).
FP4PROOF_HD constexpr void store_hif4_word(MicroOrder order, std::uint32_t word, std::uint8_t* bytes) {
  store_le32(order == MicroOrder::lsb_first ? word : swap_micro_order(word), bytes);
}

/// The inverse of store_hif4_word.
FP4PROOF_HD constexpr std::uint32_t load_hif4_word(MicroOrder order, const std::uint8_t* bytes) {
  const std::uint32_t word = load_le32(bytes);
  return order == MicroOrder::lsb_first ? word : swap_micro_order(word);
}

}  // namespace fp4proof
