#include "conformance/vectors/folder_entries.h"

#include <algorithm>
#include <system_error>

#include "conformance/vectors/os_error.h"

namespace fp4proof {

// A range-based loop throws where reading on fails.
Result<std::vector<std::filesystem::directory_entry>> folder_entries(const std::filesystem::path& folder) {
  std::vector<std::filesystem::directory_entry> entries;
  std::error_code failure;
  std::filesystem::directory_iterator next(folder, failure);
  for (; !failure && next != std::filesystem::directory_iterator(); next.increment(failure)) entries.push_back(*next);
  if (failure) return os_error("read the folder", folder, failure.value());
  std::ranges::sort(entries);
  return entries;
}

}  // namespace fp4proof
