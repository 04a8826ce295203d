#pragma once
// Binary floating-point words and the real numbers they stand for, written from the IEEE 754 definition. Rounding goes
// through exact numbers only; no machine arithmetic takes part.

#include <cstdint>
#include <optional>

#include "reference/exact/rational.h"

namespace fp4proof::exact {

/// A binary interchange format. Its numbers are multiples of 2^(max(e, min_exponent) - fraction_bits), e = floor(log2).
struct BinaryFormat {
  int fraction_bits;
  int min_exponent;
  int max_exponent;
  int bits;
};

inline constexpr BinaryFormat binary32 = {23, -126, 127, 32};
inline constexpr BinaryFormat bfloat16 = {7, -126, 127, 16};
inline constexpr BinaryFormat binary64 = {52, -1022, 1023, 64};

enum class Direction { nearest_even, toward_zero };

/// The value rounded to the format. Nothing where the result leaves the finite range: an infinity of the same sign.
std::optional<Rational> round_to(const BinaryFormat& format, const Rational& value,
                                 Direction direction = Direction::nearest_even);

/// The word of the rounded value: infinity on overflow, and a negative value that rounds to zero gives -0.
std::uint64_t word_of(const BinaryFormat& format, const Rational& value);

/// The value of a finite word; nothing for NaN and infinity.
std::optional<Rational> value_of(const BinaryFormat& format, std::uint64_t word);

inline constexpr std::uint32_t float_nan = 0x7FC00000U;
inline constexpr std::uint32_t float_infinity = 0x7F800000U;
inline constexpr std::uint32_t float_sign = 0x80000000U;
inline constexpr std::uint32_t float_one = 0x3F800000U;

constexpr bool is_nan(std::uint32_t word) { return (word & ~float_sign) > float_infinity; }
constexpr bool is_infinity(std::uint32_t word) { return (word & ~float_sign) == float_infinity; }
constexpr bool is_negative(std::uint32_t word) { return (word & float_sign) != 0; }

/// The value of a finite binary32 word (zero of either sign is 0). Not for NaN and infinity.
Rational float_value(std::uint32_t word);
/// The binary32 word nearest to a real number, ties to even, gradual underflow, overflow to infinity.
std::uint32_t round_to_float(const Rational& value);
/// The bfloat16 word nearest to a real number, likewise.
std::uint16_t round_to_bf16(const Rational& value);
/// A binary32 word rounded to bfloat16 and widened again; infinity and the sign of zero stay, NaN stays a NaN.
std::uint32_t round_word_to_bf16(std::uint32_t word);

}  // namespace fp4proof::exact
