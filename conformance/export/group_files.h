#pragma once
// The files of one group.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "conformance/export/column.h"
#include "conformance/export/export_set.h"
#include "formats/result.h"

namespace fp4proof::exports {

/// Writes GROUP.* of every format of the request into `folder`, part of a PendingFolder, and the sidecar GROUP.json
/// with `set` (source_json()) and the list of files in it. Returns the names of the files, the sidecar last.
Result<std::vector<std::string>> write_group(const ExportRequest& request, const nlohmann::json& set,
                                             std::span<const std::string> class_names, const GroupColumns& group,
                                             const std::filesystem::path& folder);

}  // namespace fp4proof::exports
