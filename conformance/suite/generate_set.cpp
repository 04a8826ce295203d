#include "conformance/suite/generate_set.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "conformance/suite/make_table.h"
#include "conformance/suite/shared_rules.h"
#include "conformance/vectors/pending_folder.h"
#include "formats/spec_profiles.h"

namespace fp4proof::suite {

namespace fs = std::filesystem;

namespace {

struct Wanted {
  Operation operation;
  SharedProfile profile;
};

std::vector<Wanted> wanted_tables(const GenerateRequest& request) {
  std::vector<Wanted> tables;
  for (const Operation operation : operations) {
    if (request.operation && *request.operation != operation) continue;
    if (request.profile) {
      const Profile& kept = representative(operation, *request.profile);
      if (is_asked_of(operation, kept)) tables.push_back({operation, SharedProfile(request.profile, &kept)});
      continue;
    }
    for (const Profile* profile : distinct_profiles(operation)) {
      if (is_asked_of(operation, *profile)) tables.push_back({operation, SharedProfile(SharedProfile(), profile)});
    }
  }
  return tables;
}

VectorSet new_set(const GenerateRequest& request) {
  VectorSet set;
  set.folder = request.folder;
  set.manifest.set = request.set->name;
  set.manifest.tool_version = request.tool_version;
  set.seed = suite_seed;
  set.inputs_only = request.inputs_only;
  set.shard = fmt::format("{}/{}", request.shard.index, request.shard.count);
  set.classes = class_entries();
  return set;
}

Result<void> add_table(const GenerateRequest& request, const Wanted& wanted, const fs::path& folder, VectorSet& set) {
  const Result<CaseTable> table = request.inputs_only ? make_questions(*request.set, wanted.operation, wanted.profile)
                                                      : make_table(*request.set, wanted.operation, wanted.profile);
  if (!table) return table.error();
  TableEntry entry = entry_of(*table);
  const Result<void> written = write_table(folder / entry.file, *table, request.inputs_only);
  if (!written) return written.error();
  const Result<FileRecord> record = record_file(folder / entry.file);
  if (!record) return record.error();
  set.manifest.files.emplace(entry.file, *record);
  set.tables.push_back(std::move(entry));
  return {};
}

}  // namespace

std::optional<Shard> parse_shard(std::string_view text) {
  Shard shard;
  const char* end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, shard.index);
  if (index.ec != std::errc() || index.ptr == end || *index.ptr != '/') return std::nullopt;
  const auto count = std::from_chars(index.ptr + 1, end, shard.count);
  if (count.ec != std::errc() || count.ptr != end) return std::nullopt;
  if (shard.index < 1 || shard.index > shard.count) return std::nullopt;
  return shard;
}

Result<VectorSet> generate_set(const GenerateRequest& request) {
  const Result<void> free = check_target_folder(request.folder, manifest_name, "vector set", request.force);
  if (!free) return free.error();
  Result<PendingFolder> created = PendingFolder::create(request.folder);
  if (!created) return created.error();
  PendingFolder& pending = *created;
  VectorSet set = new_set(request);
  const std::vector<Wanted> all = wanted_tables(request);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i % request.shard.count != request.shard.index - 1) continue;
    const Result<void> added = add_table(request, all[i], pending.path(), set);
    if (!added) return added.error();
    if (request.progress) request.progress((all.size() + request.shard.count - 1) / request.shard.count);
  }
  if (set.tables.empty()) {
    return Error{ErrorKind::usage, fmt::format("shard {} is empty: there are {} tables", set.shard, all.size())};
  }
  set.manifest.body = manifest_body(set);
  const Result<void> written = write_manifest(pending.path() / manifest_name, set.manifest);
  if (!written) return written.error();
  const Result<void> committed = pending.commit(request.force);
  if (!committed) return committed.error();
  return set;
}

}  // namespace fp4proof::suite
