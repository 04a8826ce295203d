#pragma once
// Known failures that are let pass until a date. docs/waivers.md describes the file.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "conformance/suite/operation.h"
#include "formats/result.h"

namespace fp4proof::verdict {

/// The value of `format` in a file of waivers.
inline constexpr std::string_view waivers_format = "fp4proof-waivers/1";

/// One waiver. It names either a case or a class.
struct Waiver {
  std::optional<std::uint64_t> case_id;
  std::string class_name;  ///< empty where a case is named
  suite::Operation operation = suite::Operation::quantize;
  std::string profile;  ///< empty: under every profile
  std::string reason;
  std::string owner;
  std::chrono::year_month_day expiry{};  ///< the last day on which it holds
};

/// A wrong answer, in the terms of a waiver.
struct WaivedCase {
  std::uint64_t case_id = 0;
  std::string_view class_name;
  suite::Operation operation = suite::Operation::quantize;
  std::string_view profile;
};

/// The waivers of a file, on a day.
struct Waivers {
  std::vector<Waiver> list;
  std::string path;
  std::string sha256;  ///< of the file
  std::chrono::year_month_day today{};

  bool is_expired(const Waiver& waiver) const { return waiver.expiry < today; }

  /// The place of the first waiver that holds today and names the case; nothing where none does.
  std::optional<std::size_t> find(const WaivedCase& wrong) const;
};

/// Reads {"format": "fp4proof-waivers/1", "waivers": [{"case" or "class", "operation", "profile"?, "reason", "owner",
/// "expiry": "YYYY-MM-DD"}]}. `corrupt` error where the text is no strict JSON, has unknown, missing or empty fields, a
/// class or operation that does not exist, a class of another operation, or a date that is none.
Result<Waivers> read_waivers(const std::filesystem::path& path, std::chrono::year_month_day today);

/// Today in UTC.
std::chrono::year_month_day today_utc();

}  // namespace fp4proof::verdict
