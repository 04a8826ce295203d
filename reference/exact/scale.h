#pragma once
// Scale codes and the rules that choose them.

#include <cstdint>

#include "formats/spec.h"
#include "reference/exact/rational.h"

namespace fp4proof::exact {

/// E8M0: 2^(code - 127); not for code 255, which is NaN.
Rational e8m0_value(std::uint8_t code);

/// E6M2: (1 + m/4) * 2^(e - 48); not for 0xFF, which is NaN.
Rational e6m2_value(std::uint8_t code);

/// E4M3 of a positive scale; not for 0x7F, which is NaN.
Rational e4m3_value(std::uint8_t code);

/// The E8M0 code that the profile's rule gives to amax, the largest magnitude of a block: a positive finite binary32.
/// Codes clamp to 0..254; only ScaleArithmetic::word_add can answer 255.
std::uint8_t select_e8m0(const Profile& profile, const Rational& amax);

/// The E6M2 code nearest to a positive number, ties to even or up (rna). Clamps to 0x00 and 0xFE.
std::uint8_t encode_e6m2(const Rational& value, Rounding rounding);

/// The E4M3 code (sign 0) nearest to a nonnegative number, ties to even, saturating at 0x7E.
std::uint8_t encode_e4m3_scale(const Rational& value);

}  // namespace fp4proof::exact
