#include "conformance/minimize/minimal_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "conformance/suite/case_class.h"
#include "conformance/suite/reference_answers.h"
#include "conformance/suite/shared_rules.h"
#include "conformance/suite/vector_set.h"
#include "conformance/vectors/pending_folder.h"

namespace fp4proof::minimize {

namespace {

using suite::CaseGroup;
using suite::CaseTable;

/// The class of the case, or the first of its operation where this program does not know the class.
std::uint16_t class_index(const MinimalCase& one) {
  const auto classes = suite::case_classes();
  auto found = std::ranges::find(classes, one.found.class_name, &suite::CaseClass::name);
  if (found == classes.end()) {
    found = std::ranges::find(classes, one.found.topic.operation, &suite::CaseClass::operation);
  }
  return static_cast<std::uint16_t>(found - classes.begin());
}

CaseTable& table_for(const MinimalCase& one, std::vector<CaseTable>& tables) {
  const suite::Operation operation = one.found.topic.operation;
  const Profile& kept = suite::representative(operation, *one.found.topic.profile);
  const auto found = std::ranges::find_if(tables, [&](const CaseTable& table) {
    return table.operation == operation && suite::same_rule(operation, *table.profile, kept);
  });
  if (found != tables.end()) return *found;
  CaseTable table;
  table.operation = operation;
  table.profile = SharedProfile(one.found.topic.profile, &kept);
  tables.push_back(std::move(table));
  return tables.back();
}

void add(const MinimalCase& one, CaseTable& table) {
  const CaseGroup& minimal = one.minimal.judged.table.groups.front();
  auto group = std::ranges::find(table.groups, minimal.spec, &CaseGroup::spec);
  if (group == table.groups.end()) {
    table.groups.push_back({minimal.spec, {}, {}, minimal.tensors});
    group = table.groups.end() - 1;
    for (suite::CaseTensor& tensor : group->tensors) tensor.bytes.clear();
  }
  if (std::ranges::find(group->ids, one.case_id) != group->ids.end()) return;
  for (std::size_t t = 0; t < minimal.tensors.size(); ++t) {
    const std::vector<std::uint8_t>& bytes = minimal.tensors[t].bytes;
    group->tensors[t].bytes.insert(group->tensors[t].bytes.end(), bytes.begin(), bytes.end());
  }
  group->ids.push_back(one.case_id);
  group->classes.push_back(class_index(one));
}

}  // namespace

Result<void> write_minimal_set(const std::filesystem::path& folder, bool force, const std::string& tool_version,
                               std::span<const MinimalCase> cases) {
  const Result<void> free = check_target_folder(folder, suite::manifest_name, "vector set", force);
  if (!free) return free;
  Result<PendingFolder> pending = PendingFolder::create(folder);
  if (!pending) return pending.error();
  suite::VectorSet set;
  set.manifest.set = "minimal";
  set.manifest.tool_version = tool_version;
  set.shard = "1/1";
  set.classes = suite::class_entries();
  std::vector<CaseTable> tables;
  for (const MinimalCase& one : cases) add(one, table_for(one, tables));
  for (CaseTable& table : tables) {
    suite::TableEntry entry = suite::entry_of(table);
    const std::filesystem::path path = pending->path() / entry.file;
    if (const Result<void> written = suite::write_table(path, table, false); !written) return written;
    const Result<FileRecord> record = record_file(path);
    if (!record) return record.error();
    set.manifest.files.emplace(entry.file, *record);
    set.tables.push_back(std::move(entry));
  }
  set.manifest.body = suite::manifest_body(set);
  const Result<void> written = write_manifest(pending->path() / suite::manifest_name, set.manifest);
  return written ? pending->commit(force) : written;
}

nlohmann::json waivers_of(std::span<const MinimalCase> cases) {
  nlohmann::json list = nlohmann::json::array();
  for (const MinimalCase& one : cases) {
    list.push_back(
        {{"case", suite::id_text(one.found.case_id)},
         {"operation", suite::name_of(one.found.topic.operation)},
         {"profile", one.found.topic.profile->name},
         {"reason", fmt::format("{}; minimal case {}{}", to_text(one.minimal.failure), suite::id_text(one.case_id),
                                one.story.command.empty() ? "" : ": " + one.story.command)},
         {"owner", ""},
         {"expiry", ""}});
  }
  return {{"format", "fp4proof-waivers/1"}, {"waivers", list}};
}

}  // namespace fp4proof::minimize
