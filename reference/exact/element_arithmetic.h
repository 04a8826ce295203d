#pragma once
// The step from a scaled magnitude to a magnitude code under each ElementArithmetic.

#include <cstdint>

#include "reference/exact/element.h"

namespace fp4proof::exact {

/// One magnitude with its scale: `y` scaled, `magnitude` as it came, `scale` of the decoder. Mathematically y is about
/// magnitude / scale; profiles differ in how they get it.
struct Scaled {
  Rational y;
  Rational magnitude;
  Rational scale;
};

/// The magnitude code under the profile's ElementArithmetic and Rounding.
std::uint8_t round_scaled(const Profile& profile, const Scaled& scaled, RandomBits random);

}  // namespace fp4proof::exact
