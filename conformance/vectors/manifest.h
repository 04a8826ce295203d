#pragma once
// The manifest of a vector set: what the set is, and the digest of every file in it.

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "formats/result.h"

namespace fp4proof {

/// The only value of the field `format` that this version reads and writes.
inline constexpr std::string_view manifest_format = "fp4proof-vectors/1";

/// The identity of one file.
struct FileRecord {
  std::string sha256;       ///< 64 lower-case hexadecimal digits
  std::uint64_t bytes = 0;  ///< size

  bool operator==(const FileRecord&) const = default;
};

/// The content of a manifest, one JSON object with exactly the fields `body`, `files`, `format`, `set` and
/// `tool_version`.
struct Manifest {
  std::string tool_version;                        ///< version of the generator
  std::string set;                                 ///< name of the set, for example "smoke"
  std::map<std::string, FileRecord> files;         ///< file name in the manifest's folder -> its identity
  nlohmann::json body = nlohmann::json::object();  ///< free for the suite; an object
};

/// The canonical text: sorted keys, 2 spaces of indentation, UTF-8 unescaped, one LF at the end. Equal manifests give
/// equal bytes. `usage` error for a file name or digest that parse_manifest would refuse, for a body that is no
/// object or is deeper than 62 levels, and for values JSON cannot carry (NaN, infinities, invalid UTF-8).
Result<std::string> manifest_text(const Manifest& manifest);

/// Reads a manifest. Layout may differ from the canonical one, content may not: a `corrupt` error that starts with
/// `label` reports text that is no strict JSON (parse_strict_json, 64 levels), a missing, unknown or mistyped field,
/// another format, a malformed digest, and a file name that is empty, ".", or holds a path separator, "..", or a
/// control character.
Result<Manifest> parse_manifest(std::string_view text, std::string_view label);

/// Writes manifest_text() to `path`, complete or not at all.
Result<void> write_manifest(const std::filesystem::path& path, const Manifest& manifest);

/// Reads and parses `path`.
Result<Manifest> read_manifest(const std::filesystem::path& path);

/// The record of a file as it is now.
Result<FileRecord> record_file(const std::filesystem::path& path);

/// Checks that each file of the manifest stands in `folder` with its size and digest. A `corrupt` error lists the
/// files that are missing or differ. Files in the folder that the manifest does not name are not looked at.
Result<void> check_files(const std::filesystem::path& folder, const Manifest& manifest);

}  // namespace fp4proof
