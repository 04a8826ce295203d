#pragma once
// Whether a set keeps every promise of docs/vectors.md, short of the answers themselves.

#include <filesystem>
#include <string>
#include <vector>

#include "formats/result.h"

namespace fp4proof::suite {

/// Every broken promise as one sentence, none for a sound set: manifest in canonical form; size and digest of every
/// file; no file that the manifest does not name; class names and operations unique and known counts equal to what the
/// files hold; every case of a class that belongs to its operation; ids recomputed from the inputs; no case twice in
/// the set; aliases right; errata well formed. An error only where the folder cannot be read as a set at all.
Result<std::vector<std::string>> lint_set(const std::filesystem::path& folder);

}  // namespace fp4proof::suite
