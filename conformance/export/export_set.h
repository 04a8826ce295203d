#pragma once
// Exporting a set of vectors to the files of other tools. docs/hardware.md describes them.

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/export/words.h"
#include "conformance/runners/case_source.h"
#include "formats/result.h"

namespace fp4proof::exports {

enum class Format : std::uint8_t {
  hex,          ///< `$readmemh`: GROUP.COLUMN.hex
  csv,          ///< GROUP.csv
  c_header,     ///< GROUP.h
  npy,          ///< GROUP.COLUMN.npy
  safetensors,  ///< GROUP.safetensors, native dtypes
};

inline constexpr std::array<std::string_view, 5> format_names = {"hex", "csv", "c-header", "npy", "safetensors"};

inline std::string_view name_of(Format format) { return format_names[static_cast<std::size_t>(format)]; }

/// The name of the file that lists the tables and groups of an export, and tells an export from other folders.
inline constexpr std::string_view index_name = "export.json";
inline constexpr std::string_view index_format = "fp4proof-export/1";
inline constexpr std::string_view sidecar_format = "fp4proof-export-group/1";

struct ExportRequest {
  const runners::CaseSource* cases = nullptr;
  std::optional<std::filesystem::path> set_folder;  ///< where `cases` were read from a folder
  std::filesystem::path folder;                     ///< to make
  std::string tool_version;
  std::vector<Format> formats;
  Granularity words = Granularity::element;  ///< of every format but safetensors
  std::optional<suite::Operation> operation;
  std::vector<SharedProfile> profiles;              ///< all where empty
  std::vector<std::string> groups;                  ///< names of groups, all where empty
  bool force = false;                               ///< replace an existing export
  std::function<void(std::size_t total)> progress;  ///< called after each of `total` tables
};

struct ExportSummary {
  std::uint64_t tables = 0;
  std::uint64_t groups = 0;
  std::uint64_t cases = 0;
  std::uint64_t files = 0;
  std::uint64_t withdrawn = 0;  ///< cases left out because errata withdraw them
};

/// Writes OPERATION.PROFILE/GROUP.* for every group that is asked for, with a sidecar GROUP.json each, and export.json.
/// The folder appears complete or not at all. Memory: one table and its text at a time. The same bytes on every
/// machine. `usage` error for a folder that holds something else (or an export, without `force`), a group that no table
/// has (with the nearest name), a request that selects nothing, and for npy or C headers with words of whole blocks,
/// which those have no integers for.
Result<ExportSummary> export_set(const ExportRequest& request);

}  // namespace fp4proof::exports
