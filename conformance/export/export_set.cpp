#include "conformance/export/export_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "conformance/export/group_files.h"
#include "conformance/export/names.h"
#include "conformance/export/sidecar.h"
#include "conformance/profiles/nearest_name.h"
#include "conformance/suite/shared_rules.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/pending_folder.h"

namespace fp4proof::exports {

namespace fs = std::filesystem;
using nlohmann::json;
using suite::CaseGroup;
using suite::CaseTable;
using suite::Operation;

namespace {

struct Wanted {
  Operation operation;
  SharedProfile profile;
};

bool is_wanted(const ExportRequest& request, Operation operation) {
  return !request.operation || *request.operation == operation;
}

/// The pairs that may have cases, in the order of the set.
Result<std::vector<Wanted>> wanted_pairs(const ExportRequest& request) {
  std::vector<Wanted> pairs;
  if (request.profiles.empty() && request.set_folder) {
    const Result<suite::VectorSet> set = suite::open_set(*request.set_folder, false);
    if (!set) return set.error();
    for (const suite::TableEntry& table : set->tables) {
      if (is_wanted(request, table.operation)) pairs.push_back({table.operation, table.profile});
    }
    return pairs;
  }
  for (const Operation operation : suite::operations) {
    if (!is_wanted(request, operation)) continue;
    for (const SharedProfile& profile : request.profiles) pairs.push_back({operation, profile});
    if (!request.profiles.empty()) continue;
    for (const Profile* profile : suite::distinct_profiles(operation)) {
      pairs.push_back({operation, SharedProfile(SharedProfile(), profile)});
    }
  }
  return pairs;
}

/// Takes the withdrawn cases out; how many there were.
std::uint64_t drop_withdrawn(CaseGroup& group, const suite::Errata& errata) {
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (!errata.contains(group.ids[i])) kept.push_back(i);
  }
  const std::uint64_t dropped = group.size() - kept.size();
  if (dropped == 0) return 0;
  for (suite::CaseTensor& tensor : group.tensors) {
    std::vector<std::uint8_t> bytes;
    for (const std::size_t i : kept) {
      const Bytes of_case = tensor.of_case(i);
      bytes.insert(bytes.end(), of_case.begin(), of_case.end());
    }
    tensor.bytes = std::move(bytes);
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    group.ids[i] = group.ids[kept[i]];
    group.classes[i] = group.classes[kept[i]];
  }
  group.ids.resize(kept.size());
  group.classes.resize(kept.size());
  return dropped;
}

class Exporter {
 public:
  Exporter(const ExportRequest& request, fs::path folder, json set)
      : request_(request), folder_(std::move(folder)), set_(std::move(set)) {
    for (const suite::ClassEntry& entry : request.cases->classes()) class_names_.push_back(entry.name);
  }

  /// Exports the cases of a pair where there are any.
  Result<void> add(const Wanted& wanted) {
    Result<std::optional<CaseTable>> found = request_.cases->questions(wanted.operation, wanted.profile);
    if (!found) return found.error();
    if (!found->has_value()) return {};
    CaseTable& table = **found;
    if (!seen_.insert(folder_name(table)).second) return {};  // two profiles that share their cases
    const std::uint64_t groups = summary_.groups;
    for (const CaseGroup& group : table.groups) group_names_.insert(suite::group_name(group.spec));
    std::erase_if(table.groups, [&](const CaseGroup& group) { return !is_asked_for(group); });
    if (table.groups.empty()) return {};
    if (const Result<void> answered = request_.cases->answer(table); !answered) return answered;
    for (CaseGroup& group : table.groups) {
      if (const Result<void> written = add_group(table, group); !written) return written;
    }
    summary_.tables += summary_.groups != groups ? 1 : 0;
    return {};
  }

  /// A `usage` error where a group that was asked for was nowhere, or nothing was exported.
  Result<void> check_selection() const {
    const std::vector<std::string> names(group_names_.begin(), group_names_.end());
    for (const std::string& name : request_.groups) {
      if (group_names_.contains(name) || names.empty()) continue;
      return Error{ErrorKind::usage,
                   fmt::format("no table that is asked for has a group {}{}", quote(name), did_you_mean(name, names))};
    }
    if (summary_.cases != 0) return {};
    return Error{ErrorKind::usage,
                 fmt::format("{} has no cases of this operation and profile", request_.cases->label())};
  }

  Result<void> write_index() const {
    const json index = {{"format", index_format},
                        {"tool_version", request_.tool_version},
                        {"set", set_},
                        {"words", name_of(request_.words)},
                        {"cases", summary_.cases},
                        {"withdrawn", summary_.withdrawn},
                        {"groups", groups_}};
    return write_pending_file(folder_ / index_name, bytes_of(index.dump(2) + "\n"));
  }

  const ExportSummary& summary() const { return summary_; }

 private:
  bool is_asked_for(const CaseGroup& group) const {
    return request_.groups.empty() ||
           std::ranges::find(request_.groups, suite::group_name(group.spec)) != request_.groups.end();
  }

  Result<void> add_group(const CaseTable& table, CaseGroup& group) {
    summary_.withdrawn += drop_withdrawn(group, request_.cases->errata());
    if (group.size() == 0) return {};
    const Result<GroupColumns> columns = columns_of(table, group);
    if (!columns) return columns.error();
    const fs::path folder = folder_ / folder_name(table);
    std::error_code failure;
    fs::create_directory(folder, failure);
    if (failure) return os_error("make", folder, failure.value());
    const Result<std::vector<std::string>> files = write_group(request_, set_, class_names_, *columns, folder);
    if (!files) return files.error();
    ++summary_.groups;
    summary_.cases += group.size();
    summary_.files += files->size();
    groups_.push_back({{"operation", suite::name_of(table.operation)},
                       {"profile", table.profile->name},
                       {"group", suite::group_name(group.spec)},
                       {"cases", group.size()},
                       {"sidecar", folder_name(table) + "/" + files->back()}});
    return {};
  }

  const ExportRequest& request_;
  fs::path folder_;
  json set_;
  std::vector<std::string> class_names_;
  std::set<std::string> seen_;
  std::set<std::string> group_names_;
  json groups_ = json::array();
  ExportSummary summary_;
};

Result<void> check_words(const ExportRequest& request) {
  if (request.words != Granularity::block) return {};
  for (const Format format : {Format::npy, Format::c_header}) {
    if (std::ranges::find(request.formats, format) == request.formats.end()) continue;
    return Error{ErrorKind::usage,
                 fmt::format("{} has no integer as wide as a block; take --words element or packed", name_of(format))};
  }
  return {};
}

}  // namespace

Result<ExportSummary> export_set(const ExportRequest& request) {
  if (const Result<void> possible = check_words(request); !possible) return possible.error();
  if (const Result<void> free =
          check_target_folder(request.folder, index_name, "set of exported vectors", request.force);
      !free) {
    return free.error();
  }
  const Result<json> set = source_json(request);
  if (!set) return set.error();
  const Result<std::vector<Wanted>> pairs = wanted_pairs(request);
  if (!pairs) return pairs.error();
  Result<PendingFolder> pending = PendingFolder::create(request.folder);
  if (!pending) return pending.error();
  Exporter exporter(request, pending->path(), *set);
  for (const Wanted& wanted : *pairs) {
    if (const Result<void> added = exporter.add(wanted); !added) return added.error();
    if (request.progress) request.progress(pairs->size());
  }
  if (const Result<void> selected = exporter.check_selection(); !selected) return selected.error();
  if (const Result<void> written = exporter.write_index(); !written) return written.error();
  if (const Result<void> flushed = pending->flush(); !flushed) return flushed.error();
  if (const Result<void> committed = pending->commit(request.force); !committed) return committed.error();
  return exporter.summary();
}

}  // namespace fp4proof::exports
