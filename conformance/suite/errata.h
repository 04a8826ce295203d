#pragma once
// Cases that were withdrawn because they were wrong. A published vector is never edited.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "formats/result.h"

namespace fp4proof::suite {

inline constexpr std::string_view errata_name = "ERRATA.json";
inline constexpr std::string_view errata_format = "fp4proof-errata/1";

/// Withdrawn cases, and where that is said.
struct Errata {
  std::map<std::uint64_t, std::string> withdrawn;  ///< case_id -> reason
  std::filesystem::path path;                      ///< empty where there is no file
  std::string sha256;                              ///< of the file, 64 hexadecimal digits; empty where there is none

  bool contains(std::uint64_t case_id) const { return withdrawn.contains(case_id); }

  /// How many of them withdrawn_by_project() does not name.
  std::uint64_t foreign_count() const;
};

/// What the project itself has withdrawn, sorted: the cases of vectors/ERRATA.json, as this release knows them. Anybody
/// can put a file of errata beside a set; only these cases may be left out of a verdict that promises completeness.
std::span<const std::uint64_t> withdrawn_by_project();

/// Reads {"format": "fp4proof-errata/1", "withdrawn": [{"case_id": 16 hex digits, "reason": text, "since": version}]}.
/// A `corrupt` error for anything else.
Result<Errata> read_errata(const std::filesystem::path& path);

/// The file of a set's errata; nothing where there is none.
std::optional<std::filesystem::path> errata_path_of_set(const std::filesystem::path& folder);

/// The errata of a set: the file ERRATA.json in its folder, else beside its folder, else none.
Result<Errata> errata_of_set(const std::filesystem::path& folder);

}  // namespace fp4proof::suite
