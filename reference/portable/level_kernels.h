#pragma once
// The vectorised inner loops of the quantizer. They compare with thresholds that decision_tables.h has read off the
// scalar encoders; they know nothing of profiles. Every function has one clone per instruction set.

#include <cstdint>

#include "formats/spec.h"
#include "reference/portable/decision_tables.h"

namespace fp4proof::portable {

/// Which zero codes lose their sign.
struct SignRule {
  bool drop_all_zeros = false;    ///< every zero code
  bool drop_zero_inputs = false;  ///< those whose input is zero
  bool drop_zero_scaled = false;  ///< those whose scaled value is zero in binary32

  explicit SignRule(ZeroSign sign)
      : drop_all_zeros(sign == ZeroSign::dropped),
        drop_zero_inputs(sign == ZeroSign::zero_input_dropped),
        drop_zero_scaled(sign == ZeroSign::zero_scaled_dropped) {}
  bool keeps_every_sign() const { return !drop_all_zeros && !drop_zero_inputs && !drop_zero_scaled; }
};

/// amax_bits[b] = largest magnitude word of block b, blocks of `length` words (a
/// multiple of 16) one after the other. NaN counts as larger
/// than infinity.
void block_maxima(const std::uint32_t* words, int blocks, int length, std::uint32_t* amax_bits);

/// codes[i] = number of thresholds that |words[i]| * factors[block of i] reaches, sign on top, for an element of
/// 3, 7 or 15 non-zero magnitudes.
void encode_levels(Element element, const std::uint32_t* words, int blocks, int length, const float* factors,
                   const Thresholds& thresholds, SignRule rule, std::uint8_t* codes);

/// What stochastic rounding to the grid of an element needs, for binary32 numbers.
struct StochasticGrid {
  int mantissa_bits = 0;
  int sign_shift = 0;           ///< place of the sign bit in a code
  int lowest_field = 0;         ///< binary32 exponent field of the smallest normal element
  std::int32_t max_code = 0;    ///< clamps here
  std::uint32_t kept_bits = 0;  ///< as many high bits of the fraction as random bits are used
};

/// As encode_levels, for an MX element of any width under Rounding::stochastic (round_to_step in formats/magnitude.h):
/// up where floor(2^bits fraction) and the high bits of the element's random word have a carry.
void encode_stochastic(const StochasticGrid& grid, const std::uint32_t* words, const std::uint32_t* random, int blocks,
                       int length, const float* factors, SignRule rule, std::uint8_t* codes);

/// HiF4 groups of 64: units[b] is 2^-E of group b's scale and tables[mantissas[b]] its thresholds. level_bits[b]
/// receives the level-2 bits (7:0) and level-3 bits (23:8).
void encode_groups(Element element, const std::uint32_t* words, int blocks, const float* units,
                   const std::uint8_t* mantissas, const Hif4Table* tables, SignRule rule, std::uint32_t* level_bits,
                   std::uint8_t* codes);

/// Two 4-bit codes a byte, the even one low.
void pack_nibbles(const std::uint8_t* codes, int count, std::uint8_t* bytes);

}  // namespace fp4proof::portable
