#pragma once
// Minimal cases as files: a set of vectors, and waivers to fill in.

#include <filesystem>
#include <span>
#include <string>

#include "conformance/minimize/minimal_case.h"
#include "formats/result.h"

namespace fp4proof::minimize {

/// Writes a set of vectors that holds these cases alone, with the answers of the reference: `fp4proof run --set FOLDER`
/// and `verify FOLDER` read it. Cases that are equal appear once; each keeps the class that it was found in. The folder
/// appears complete or not at all. Errors as suite::generate_set() has them.
Result<void> write_minimal_set(const std::filesystem::path& folder, bool force, const std::string& tool_version,
                               std::span<const MinimalCase> cases);

/// A file of waivers (docs/waivers.md) with one entry for each case as it was found in the set, and what is wrong with
/// it as the reason. Owner and expiry are empty, and as long as they are nobody accepts the file.
nlohmann::json waivers_of(std::span<const MinimalCase> cases);

}  // namespace fp4proof::minimize
