#include "conformance/cli/run_files.h"

#include <algorithm>

#include "conformance/cli/same_file.h"
#include "conformance/training_report/training_run.h"
#include "conformance/vectors/folder_entries.h"
#include "conformance/vectors/is_absent.h"

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
  if (is_absent(folder)) return {};
  const auto entries = folder_entries(folder);
  if (!entries) return entries.error();
  for (const fs::directory_entry& entry : *entries) {
    if (!is_run_file(entry.path())) continue;
    if (auto apart = refuse_same_file(entry.path().string(), output); !apart) return apart;
  }
  return {};
}

}  // namespace fp4proof::cli
