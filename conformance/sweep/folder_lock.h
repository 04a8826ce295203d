#pragma once
// One sweep at a time in a folder.

#include <filesystem>

#include "conformance/vectors/file_descriptor.h"
#include "formats/result.h"

namespace fp4proof::sweep {

/// Locks `folder` until the descriptor is closed here and in every process that was started since: they inherit it, so
/// what a killed sweep leaves behind keeps its folder until it has ended. A `usage` error where another holds it for
/// over two seconds.
Result<FileDescriptor> lock_folder(const std::filesystem::path& folder);

}  // namespace fp4proof::sweep
