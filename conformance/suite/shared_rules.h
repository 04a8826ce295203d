#pragma once
// Profiles that give the same answers to an operation share its cases.

#include <string_view>
#include <vector>

#include "conformance/suite/operation.h"
#include "formats/spec.h"

namespace fp4proof::suite {

/// Whether both profiles give the same canonical bytes for every question. Names, packing orders and layouts do not
/// count, and for dequantize and gemm neither does anything that only encoding looks at.
bool same_rule(Operation operation, const Profile& a, const Profile& b);

/// The first named profile with the rule of `profile`: the one under whose name the cases are kept. `profile` itself
/// where no named profile has its rule.
const Profile& representative(Operation operation, const Profile& profile);

/// The other named profiles that share the cases of `profile`, in the order of the table of profiles.
std::vector<std::string_view> aliases(Operation operation, const Profile& profile);

/// The named profiles whose cases are kept under their own name.
std::vector<const Profile*> distinct_profiles(Operation operation);

}  // namespace fp4proof::suite
