#pragma once
// Which combinations of choices make a profile.

#include "formats/result.h"
#include "formats/spec.h"

namespace fp4proof {

/// Success when both roads define what the profile computes, else a `usage` error that names the fields at odds.
/// Every named profile passes. Fields of other families are not looked at.
Result<void> check_profile(const Profile& profile);

}  // namespace fp4proof
