#pragma once
// From what a user writes after --profile to a profile.

#include <string_view>

#include "conformance/profiles/profile_json.h"
#include "formats/result.h"

namespace fp4proof {

/// The named profile of that exact name. A `usage` error suggests the nearest name, or lists the names of the family.
Result<SharedProfile> named_profile(std::string_view name);

/// A name, or the path of a profile file, which ends in `.json`. An `io` error for a file that cannot be read, else
/// errors of kind `usage`.
Result<SharedProfile> find_profile_or_file(std::string_view name_or_path);

/// Reads a profile file.
Result<SharedProfile> read_profile_file(std::string_view path);

}  // namespace fp4proof
