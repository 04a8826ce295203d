#pragma once
// Which numbers are simpler than others.

#include <cstdint>
#include <vector>

#include "conformance/minimize/atoms.h"
#include "formats/spec.h"

namespace fp4proof::minimize {

/// How far a number is from the simplest of its role, a total order. Words: fewer fraction bits, an exponent nearer to
/// that of 1, no sign, a smaller fraction; zero first, infinity and NaN last. Codes: as the words that they stand for.
/// Scales: nearer to the code of 1. Random words: fewer significant bits from the top. Level bits and factors: fewer
/// bits set.
std::uint64_t complexity(const Profile& profile, Role role, std::uint32_t value);

/// The simplest number of a role: zero, or the scale 1.
std::uint32_t simplest_value(const Profile& profile, Role role);

/// Numbers of the role that are simpler than `value`, the simplest first; not zero for elements. All of them where
/// there are few; of words those with fewer fraction bits, exponents on the way to that of 1, and no sign.
std::vector<std::uint32_t> simpler_values(const Profile& profile, Role role, std::uint32_t value);

}  // namespace fp4proof::minimize
