#pragma once

#include <filesystem>
#include <system_error>

namespace fp4proof {

/// Whether nothing has that name. Where the operating system does not tell, something has: opening it says why it
/// cannot be had. Links are followed.
inline bool is_absent(const std::filesystem::path& path) {
  std::error_code unknown;
  return std::filesystem::status(path, unknown).type() == std::filesystem::file_type::not_found;
}

}  // namespace fp4proof
