#pragma once
// Profiles as JSON objects. docs/profiles.md describes the form.

#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "formats/result.h"
#include "formats/spec.h"

namespace fp4proof {

/// A profile that outlives its maker: a named one of formats/spec_profiles.h, or one that a user wrote.
using SharedProfile = std::shared_ptr<const Profile>;

/// The value of the field `format` in a profile file.
inline constexpr std::string_view profile_format = "fp4proof-profile/1";

/// The complete profile: `format`, `name`, `summary`, and every field that means something to its family. Choices are
/// written as name_of() has them, the block as "ROWSxCOLUMNS", codes and counts as numbers.
nlohmann::json profile_to_json(const Profile& profile);

/// Reads a profile: `name` (required, not the name of a named profile), `summary`, `format`, `base` (a named profile to
/// start from), and fields. Without `base` every field of the family must be there: nothing is guessed.
/// `usage` error, starting with `label`, for anything unknown, mistyped, out of scope, missing, or at odds
/// (check_profile).
Result<SharedProfile> profile_from_json(const nlohmann::json& value, std::string_view label);

/// `base` with fields changed; `fields` holds them as in a profile file. The name becomes BASE+FIELD=VALUE+..., in
/// order of the fields' names. Errors as for profile_from_json.
Result<SharedProfile> changed_profile(const Profile& base, const nlohmann::json& fields, std::string_view label);

}  // namespace fp4proof
