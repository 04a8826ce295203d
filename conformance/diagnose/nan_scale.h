#pragma once
// The scale codes that mean NaN.

#include <cstdint>

#include "formats/spec.h"

namespace fp4proof::diagnose {

constexpr std::uint8_t nan_scale(Family family) {
  switch (family) {
    case Family::mx: return e8m0_nan;
    case Family::hif4: return e6m2_nan;
    case Family::nvfp4: return e4m3_scale_nan;
  }
  return 0;
}

/// Whether the first byte of a scale means NaN.
constexpr bool is_nan_scale(Family family, std::uint8_t byte) {
  return (family == Family::nvfp4 ? byte & 0x7F : byte) == nan_scale(family);
}

}  // namespace fp4proof::diagnose
