#pragma once
// Why one element under the right scales has the wrong code.

#include <cstdint>
#include <string_view>

#include "formats/spec.h"

namespace fp4proof::verify {

/// Everything that decides one element's code.
struct ElementQuestion {
  const Profile& profile;
  std::uint32_t scale = 0;  ///< scale byte, or HiF4 scale word
  float tensor_scale = 1.0F;
  int column = 0;  ///< in the block
  std::uint32_t word = 0;
  std::uint32_t random = 0;
};

/// The kind of an element mismatch under an equal scale: sign-of-zero, sign, special-code, saturation, tie,
/// double-rounding, no-pre-rounding, random-bits, flushed-subnormal, neighbour or code, the first that holds.
std::string_view element_kind(const ElementQuestion& question, std::uint8_t expected, std::uint8_t actual);

/// Codes counted along the number line, so that their differences are signed distances; both zeros count 0.
std::int64_t code_order(Element element, std::uint8_t code);

}  // namespace fp4proof::verify
