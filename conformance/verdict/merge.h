#pragma once
// From the reports of all shards to the report of the whole run.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "conformance/verdict/check.h"
#include "formats/result.h"

namespace fp4proof::verdict {

/// A report document and what it is called in errors, for example a quoted path.
struct ShardDocument {
  std::string label;
  nlohmann::json document = nlohmann::json::object();
};

/// Reads a report; `corrupt` error for what is no strict JSON or of another format.
Result<ShardDocument> read_report(const std::string& path);

/// The document of the whole run, judged: to the byte the one that the unsharded run gives, as long as the subject had
/// no faults (a run gives up after too many, and each shard counts its own) and nothing was diagnosed (a shard has its
/// own evidence, see merged_diagnosis()).
/// Facts of the host in which shards differ read "several".
/// `usage` error that names the documents where a shard is missing, given twice, or of another run: another tool
/// version, set, subject, invocation or demand; `corrupt` error where a document is not as this program writes it.
Result<nlohmann::json> merge_shards(std::vector<ShardDocument> shards);

/// Whether a document is the one that `request` would give, but for its findings: same tool, command, cases, subject
/// and demands.
bool is_report_of(const nlohmann::json& document, const CheckRequest& request);

}  // namespace fp4proof::verdict
