#include "conformance/cli/run_files.h"

#include <algorithm>
#include <system_error>

#include "conformance/cli/same_file.h"
#include "conformance/training_report/training_run.h"

namespace fp4proof::cli {

namespace fs = std::filesystem;

namespace {

bool is_run_file(const fs::path& path) {
  const auto records = training_report::record_files();
  return path.extension() == ".safetensors" || path.extension() == ".lock" ||
         std::ranges::find(records, path.filename().string()) != records.end();
}

}  // namespace

Result<void> refuse_run_file(const fs::path& folder, const std::string& output) {
  std::error_code failure;
  fs::directory_iterator entries(folder, failure);
  for (; !failure && entries != fs::directory_iterator(); entries.increment(failure)) {
    if (!is_run_file(entries->path())) continue;
    if (auto apart = refuse_same_file(entries->path().string(), output); !apart) return apart;
  }
  return {};
}

}  // namespace fp4proof::cli
