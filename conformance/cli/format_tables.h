#pragma once
// The formats and the fields of a profile, for people and for programs.

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "formats/spec.h"

namespace fp4proof::cli {

/// Element codes, scale codes and block formats, each as a table.
std::string formats_text();

/// The same: objects under `elements`, `scales` and `blocks`.
nlohmann::json formats_as_json();

/// The name, the summary and every field that means something to the profile's family, one a line.
std::string profile_text(const Profile& profile);

}  // namespace fp4proof::cli
