#pragma once
// Two binary32 words that should be equal.

#include <cstdint>

#include "conformance/verify/mismatch.h"
#include "formats/float_bits.h"

namespace fp4proof::verify {

/// A finding of that cause, kind and distance; everything else open.
Finding finding_of(Cause cause, std::string_view kind, std::int64_t distance);

constexpr bool is_zero(std::uint32_t word) { return (word & float_magnitude_mask) == 0; }

/// Whether two words are the same value: equal bits, or both NaN.
bool same_value(std::uint32_t expected, std::uint32_t actual);

/// What is wrong with a word that is not the same value.
Finding value_finding(std::uint32_t expected, std::uint32_t actual);

}  // namespace fp4proof::verify
