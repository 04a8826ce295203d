#pragma once
// One process at a time at work in a folder.

#include <filesystem>
#include <string_view>

#include "conformance/vectors/file_descriptor.h"
#include "formats/result.h"

namespace fp4proof {

/// Locks `folder` by the file NAME.lock in it until the descriptor is closed here and in every process that was started
/// since: they inherit it, so what a killed sweep leaves behind keeps its folder until it has ended. `name` says what
/// is at work there. A `usage` error where another holds it for over two seconds.
Result<FileDescriptor> lock_folder(const std::filesystem::path& folder, std::string_view name);

}  // namespace fp4proof
