#pragma once
// Records of a run as text.

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

namespace fp4proof::training {

/// The whole file; nothing where it is none or cannot be read.
inline std::optional<std::string> content_of(const std::filesystem::path& path) {
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) return std::nullopt;  // a pipe would keep its reader waiting
  std::ifstream file(path, std::ios::binary);
  if (!file) return std::nullopt;
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

}  // namespace fp4proof::training
