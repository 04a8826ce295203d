#include "conformance/verdict/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "conformance/suite/generate_set.h"
#include "conformance/vectors/mapped_file.h"
#include "conformance/vectors/os_error.h"
#include "conformance/vectors/strict_json.h"
#include "conformance/verdict/decomposed_cases.h"
#include "conformance/verdict/document.h"
#include "conformance/verdict/document_check.h"
#include "conformance/verdict/document_fields.h"
#include "conformance/verdict/explained_cases.h"
#include "conformance/verdict/judge.h"
#include "conformance/verdict/merge_diagnosis.h"
#include "conformance/verdict/places.h"

namespace fp4proof::verdict {

namespace {

using nlohmann::json;

constexpr std::size_t deepest = 32;

/// What shards of one run have in common.
constexpr std::array<const char*, 6> common_fields = {"format",  "command", "tool_version",
                                                      "subject", "demands", "invocation"};

Error usage(std::string message) { return {ErrorKind::usage, std::move(message)}; }

void add_to(json& sum, const json& part, const char* field) { sum.at(field) = count(sum, field) + count(part, field); }

void add_tally(json& sum, const json& part) {
  for (const char* field : {"passed", "failed", "skipped"}) add_to(sum, part, field);
}

void add_classes(json& sum, const json& part) {
  for (const auto& [name, tally] : part.items()) {
    if (sum.contains(name)) {
      add_tally(sum[name], tally);
    } else {
      sum[name] = tally;
    }
  }
}

void add_kind(json& sum, const json& part) {
  add_to(sum, part, "cases");
  for (const auto& [distance, cases] : part.at("distances").items()) {
    json& cell = sum["distances"][distance];
    cell = (cell.is_null() ? std::uint64_t{0} : cell.get<std::uint64_t>()) + cases.get<std::uint64_t>();
  }
}

void add_causes(json& sum, const json& part) {
  for (const auto& [cause, kinds] : part.items()) {
    json& of_cause = sum[cause];
    for (const auto& [kind, tally] : kinds.items()) {
      if (of_cause.is_object() && of_cause.contains(kind)) {
        add_kind(of_cause[kind], tally);
      } else {
        of_cause[kind] = tally;
      }
    }
  }
}

void add_names(json& sum, const json& part) {
  for (const json& name : part)
    if (std::ranges::find(sum, name) == sum.end()) sum.push_back(name);
}

/// Both lists are sorted by name.
json merged_groups(const json& a, const json& b) {
  std::map<std::string, json> groups;
  for (const json& group : a) groups.emplace(text(group, "group"), group);
  for (const json& group : b) {
    const auto [place, is_new] = groups.try_emplace(text(group, "group"), group);
    if (!is_new) place->second = sum_of_places(place->second, group);
  }
  json list = json::array();
  for (auto& [name, group] : groups) list.push_back(std::move(group));
  return list;
}

void add_diagnosis(json& sum, const json& part, bool sum_failed, bool part_failed) {
  if (!part_failed) return;
  json& mine = sum.at("diagnosis");
  const json& other = part.at("diagnosis");
  if (!sum_failed) {
    mine = other;
  } else {
    mine = mine.is_null() || other.is_null() ? json() : merged_diagnosis(mine, other);
  }
}

void add_statistics(json& sum, const json& part) {
  json& mine = sum.at("statistical");
  const json& other = part.at("statistical");
  if (other.is_null() || mine.is_null()) {
    if (mine.is_null()) mine = other;
    return;
  }
  for (const char* field : {"tests", "draws"}) add_to(mine, other, field);
  for (const json& alarm : other.at("alarms")) mine["alarms"].push_back(alarm);
}

void add_decomposition(json& sum, const json& part) {
  if (!part.contains("decomposition")) return;
  const json& other = part["decomposition"];
  sum["decomposition"] = sum.contains("decomposition") ? sum_of_decompositions(sum["decomposition"], other) : other;
}

Result<void> add_table(json& sum, const json& part, std::string_view label) {
  for (const char* field : {"operation", "profile", "offered_groups", "unsupported_groups"}) {
    if (sum.at(field) != part.at(field)) {
      return usage(
          fmt::format("{}: the table {} under {} has other {} than in the first shard: the subject did not offer "
                      "the same to every shard",
                      label, text(part, "operation"), text(part, "profile"), field));
    }
  }
  add_diagnosis(sum, part, !sum.at("group_places").empty(), !part.at("group_places").empty());
  add_tally(sum.at("tally"), part.at("tally"));
  add_classes(sum.at("classes"), part.at("classes"));
  add_causes(sum.at("causes"), part.at("causes"));
  for (const char* field : {"withdrawn", "waived", "missing", "nondeterministic"}) add_to(sum, part, field);
  add_names(sum.at("missing_tensors"), part.at("missing_tensors"));
  add_statistics(sum, part);
  add_decomposition(sum, part);
  sum["group_places"] = merged_groups(sum.at("group_places"), part.at("group_places"));
  return {};
}

Result<void> add_waivers(json& sum, const json& part, std::string_view label) {
  if (sum.is_null() && part.is_null()) return {};
  const Error foreign = usage(fmt::format("{}: was made with other waivers", label));
  if (sum.is_null() || part.is_null() || sum.at("sha256") != part.at("sha256")) return foreign;
  for (std::size_t i = 0; i < sum["entries"].size(); ++i) {
    json& entry = sum["entries"][i];
    const json& other = part.at("entries").at(i);
    add_to(entry, other, "cases");
    const bool is_expired = entry["state"] == "expired" || other.at("state") == "expired";
    entry["state"] = is_expired ? "expired" : count(entry, "cases") != 0 ? "used" : "unused";
  }
  return {};
}

void add_host(json& sum, const json& part) {
  for (const auto& [name, value] : part.items())
    if (sum[name] != value) sum[name] = "several";
}

Result<void> add_shard(json& sum, const json& part, std::string_view label) {
  const json& tables = part.at("tables");
  if (sum["tables"].size() != tables.size()) return usage(fmt::format("{}: has other tables than the first", label));
  for (std::size_t i = 0; i < tables.size(); ++i)
    if (const Result<void> added = add_table(sum["tables"][i], tables[i], label); !added) return added;
  if (const Result<void> added = add_waivers(sum.at("waivers"), part.at("waivers"), label); !added) return added;
  add_tally(sum.at("tally"), part.at("tally"));
  for (const char* list : {"mismatches", "faults"})
    for (const json& entry : part.at(list)) sum.at(list).push_back(entry);
  add_names(sum.at("absent"), part.at("absent"));
  for (const char* problem : {"load_problem", "close_problem"})
    if (text(sum, problem).empty()) sum[problem] = part.at(problem);
  add_to(sum, part, "survivors");
  sum["gave_up"] = sum.at("gave_up").get<bool>() || part.at("gave_up").get<bool>();
  add_host(sum.at("host"), part.at("host"));
  return {};
}

std::string table_key(const json& value) { return text(value, "operation") + " " + text(value, "profile"); }

/// The first mismatches by table and place, as many as were asked for.
void keep_first_mismatches(json& document) {
  std::map<std::string, std::size_t> tables;
  for (const json& table : document["tables"]) tables.emplace(table_key(table), tables.size());
  auto& mismatches = document["mismatches"].get_ref<json::array_t&>();
  const auto order = [&](const json& mismatch) {
    return std::pair(tables[table_key(mismatch)], count(mismatch, "place"));
  };
  std::ranges::stable_sort(mismatches, {}, order);
  const std::uint64_t most = count(document["demands"], "errors");
  if (mismatches.size() > most) mismatches.resize(most);
  keep_first_explanations(document["mismatches"]);
}

/// A document without what differs between the shards of one run.
json identity_of(const json& document) {
  json identity = json::object();
  for (const char* field : common_fields) identity[field] = document.at(field);
  identity["cases"] = document.at("cases");
  identity["cases"].erase("shard");
  return identity;
}

/// What two identities do not have in common.
std::string difference_of(const json& a, const json& b) {
  std::vector<std::string> names;
  for (const auto& [name, value] : a.items())
    if (b.at(name) != value) names.push_back(name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<suite::Shard> shard_of(const ShardDocument& shard) {
  const std::string words = text(shard.document.at("cases"), "shard");
  const std::optional<suite::Shard> parsed = suite::parse_shard(words);
  if (parsed) return *parsed;
  return Error{ErrorKind::corrupt, fmt::format("{}: shard {} is not I/N", shard.label, quote(words))};
}

/// Sorts the shards and checks that they are those of one run.
Result<void> put_in_order(std::vector<ShardDocument>& shards) {
  std::map<std::uint32_t, ShardDocument> sorted;
  const json identity = identity_of(shards.front().document);
  std::uint32_t total = 0;
  for (ShardDocument& shard : shards) {
    const Result<suite::Shard> number = shard_of(shard);
    if (!number) return number.error();
    if (const json other = identity_of(shard.document); other != identity) {
      return usage(fmt::format("{} is of another run than {}: they differ in {}", shard.label, shards.front().label,
                               difference_of(identity, other)));
    }
    if (total != 0 && number->count != total) {
      return usage(fmt::format("{} is one of {} shards, others are one of {}", shard.label, number->count, total));
    }
    total = number->count;
    const auto [place, is_new] = sorted.try_emplace(number->index, shard);
    if (!is_new) {
      return usage(
          fmt::format("shard {}/{} is given twice: {} and {}", number->index, total, place->second.label, shard.label));
    }
  }
  for (std::uint32_t i = 1; i <= total && i <= shards.size() + 1; ++i)
    if (!sorted.contains(i)) return usage(fmt::format("shard {}/{} is missing", i, total));
  shards.clear();
  for (auto& [number, shard] : sorted) shards.push_back(std::move(shard));
  return {};
}

Result<json> merge_in_order(std::vector<ShardDocument> shards) {
  if (const Result<void> ordered = put_in_order(shards); !ordered) return ordered.error();
  json document = std::move(shards.front().document);
  if (shards.size() == 1) return document;
  for (std::size_t i = 1; i < shards.size(); ++i) {
    const Result<void> added = add_shard(document, shards[i].document, shards[i].label);
    if (!added) return added.error();
  }
  for (json& table : document["tables"]) {
    table["places"] = most_failed(table["group_places"]);
    table.erase("group_places");
  }
  keep_first_mismatches(document);
  document["cases"]["shard"] = "1/1";
  pronounce(document);
  return document;
}

}  // namespace

Result<ShardDocument> read_report(const std::string& path) {
  const std::string label = quote(path);
  const Result<MappedFile> file = MappedFile::open(path);
  if (!file) return file.error();
  Result<json> document = parse_strict_json(text_of(file->bytes()), label, deepest);
  if (!document) return document.error();
  if (!document->is_object() || document->value("format", json()) != report_format) {
    return Error{ErrorKind::corrupt, fmt::format("{}: no report of format {}", label, report_format)};
  }
  return ShardDocument{label, std::move(*document)};
}

Result<json> merge_shards(std::vector<ShardDocument> shards) {
  if (shards.empty()) return usage("no report to merge");
  for (const ShardDocument& shard : shards)
    if (const Result<void> checked = check_document(shard.document, shard.label); !checked) return checked.error();
  try {
    return merge_in_order(std::move(shards));
  } catch (const json::exception& problem) {
    return Error{ErrorKind::corrupt, fmt::format("a report is not as fp4proof writes it: {}", problem.what())};
  }
}

bool is_report_of(const json& document, const CheckRequest& request) {
  const runners::RunReport nothing;
  const std::vector<std::uint64_t> no_cases(request.waivers == nullptr ? 0 : request.waivers->list.size(), 0);
  const json wanted =
      document_of(request, {nothing, PlaceCollector(), ExplainedCases(), DecomposedCases(), {}, {}, no_cases});
  try {
    const auto of_files = [](const json& report) {
      json identity = identity_of(report);
      for (const char* own : {"name", "version", "description", "abi_version"}) identity["subject"].erase(own);
      identity["shard"] = report.at("cases").at("shard");
      identity["waivers"] = report.at("waivers").is_null() ? json() : report.at("waivers").at("sha256");
      return identity;
    };
    return of_files(document) == of_files(wanted);
  } catch (const json::exception&) {
    return false;
  }
}

}  // namespace fp4proof::verdict
