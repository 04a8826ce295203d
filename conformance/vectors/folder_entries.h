#pragma once
// What stands in a folder.

#include <filesystem>
#include <vector>

#include "formats/result.h"

namespace fp4proof {

/// Everything in the folder, links not followed, in the order of their names. Error `io`: it cannot be read to its end.
Result<std::vector<std::filesystem::directory_entry>> folder_entries(const std::filesystem::path& folder);

}  // namespace fp4proof
