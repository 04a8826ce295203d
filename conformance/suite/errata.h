#pragma once
// Cases that were withdrawn because they were wrong. A published vector is never edited.

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "formats/result.h"

namespace fp4proof::suite {

inline constexpr std::string_view errata_name = "ERRATA.json";
inline constexpr std::string_view errata_format = "fp4proof-errata/1";

/// Withdrawn cases: case_id -> reason.
using Errata = std::map<std::uint64_t, std::string>;

/// Reads {"format": "fp4proof-errata/1", "withdrawn": [{"case_id": 16 hex digits, "reason": text, "since": version}]}.
/// A `corrupt` error for anything else.
Result<Errata> read_errata(const std::filesystem::path& path);

/// The errata of a set: the file ERRATA.json in its folder, else beside its folder, else none.
Result<Errata> errata_of_set(const std::filesystem::path& folder);

}  // namespace fp4proof::suite
