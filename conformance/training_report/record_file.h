#pragma once
// Reading the files of a run, which anything may have written: whole, of a sane size, JSON strictly.

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "formats/result.h"

namespace fp4proof::training_report {

/// The content of a regular file. `corrupt` error for one beyond 256 MiB, `usage` or `io` for one that cannot be read.
Result<std::string> read_record(const std::filesystem::path& path);

/// Members of a JSON file, addressed by JSON pointers such as "/plan/name". One that is missing or of another kind
/// reads as empty and is remembered as the problem of the file.
class JsonRecord {
 public:
  static Result<JsonRecord> read(const std::filesystem::path& path);

  bool has(const char* pointer) const;  ///< there, and not null
  nlohmann::json object(const char* pointer);
  std::string text(const char* pointer);
  std::uint64_t count(const char* pointer);  ///< a whole number >= 0
  double fraction(const char* pointer);      ///< 0 to 1
  std::string digest(const char* pointer);   ///< 16 hexadecimal digits
  /// The text must be this one: what kind of file it is, and which version of it.
  void expect(const char* pointer, std::string_view text);

  /// Success, or the first problem as a `corrupt` error.
  Result<void> check() const;

 private:
  JsonRecord(std::filesystem::path path, nlohmann::json value) : path_(std::move(path)), value_(std::move(value)) {}
  const nlohmann::json& at(const char* pointer, bool (*is_right)(const nlohmann::json&), std::string_view what);

  std::filesystem::path path_;
  nlohmann::json value_;
  std::string problem_;
};

}  // namespace fp4proof::training_report
