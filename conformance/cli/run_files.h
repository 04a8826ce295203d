#pragma once
// Files of runs that no result may replace.

#include <filesystem>
#include <string>

#include "formats/result.h"

namespace fp4proof::cli {

/// A `usage` error where `output` leads to a record, a checkpoint or the lock of the run in `folder`.
Result<void> refuse_run_file(const std::filesystem::path& folder, const std::string& output);

}  // namespace fp4proof::cli
