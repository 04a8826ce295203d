#pragma once
// What the JSON files of an export say.

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "conformance/export/export_set.h"
#include "conformance/export/text_files.h"

namespace fp4proof::exports {

/// The set that an export comes from: `source` ("set quick", "folder DIR" without the path of DIR's parents),
/// `manifest_sha256` (null for a set made in memory).
Result<nlohmann::json> source_json(const ExportRequest& request);

/// The sidecar of a group, without its files: columns, words, cases, ids and classes. `cases_sha256` is the SHA-256 of
/// the bytes of all columns in order, as they stand in the set.
Result<nlohmann::json> group_json(const ExportRequest& request, const GroupColumns& group,
                                  std::span<const std::string> class_names, std::span<const ColumnWords> columns);

}  // namespace fp4proof::exports
