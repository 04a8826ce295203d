#include "conformance/runners/case_source.h"

#include <fmt/format.h>

#include "conformance/suite/case_class.h"
#include "conformance/suite/make_table.h"
#include "conformance/suite/reference_answers.h"
#include "conformance/suite/shared_rules.h"
#include "conformance/vectors/sha256.h"

namespace fp4proof::runners {

using suite::CaseTable;
using suite::VectorSet;

CaseSource CaseSource::named(const suite::SetPlan& plan) {
  CaseSource source(&plan, fmt::format("set {}", plan.name));
  source.classes_ = suite::class_entries();
  return source;
}

Result<CaseSource> CaseSource::folder(const std::filesystem::path& path,
                                      const std::optional<std::filesystem::path>& errata_path) {
  Result<VectorSet> set = suite::open_set(path);
  if (!set) return set.error();
  Result<suite::Errata> errata = errata_path ? suite::read_errata(*errata_path) : suite::errata_of_set(path);
  if (!errata) return errata.error();
  const Result<FileDigest> digest = sha256_of_file(path / suite::manifest_name);
  if (!digest) return digest.error();
  CaseSource source(std::move(*set), fmt::format("folder {}", path.string()));
  source.classes_ = std::get<VectorSet>(source.set_).classes;
  source.errata_ = std::move(*errata);
  source.manifest_sha256_ = to_hex(digest->digest);
  return source;
}

std::string_view CaseSource::set_name() const {
  const VectorSet* set = vector_set();
  return set != nullptr ? std::string_view(set->manifest.set) : std::get<const suite::SetPlan*>(set_)->name;
}

std::uint64_t CaseSource::seed() const {
  const VectorSet* set = vector_set();
  return set != nullptr ? set->seed : suite::suite_seed;
}

std::string_view CaseSource::part() const {
  const VectorSet* set = vector_set();
  return set != nullptr ? std::string_view(set->shard) : "1/1";
}

std::vector<SharedProfile> CaseSource::kept_profiles(suite::Operation operation) const {
  std::vector<SharedProfile> kept;
  if (const VectorSet* set = vector_set()) {
    for (const suite::TableEntry& entry : set->tables)
      if (entry.operation == operation) kept.push_back(entry.profile);
    return kept;
  }
  for (const Profile* profile : suite::distinct_profiles(operation))
    if (suite::is_asked_of(operation, *profile)) kept.emplace_back(SharedProfile(), profile);
  return kept;
}

bool CaseSource::asks(suite::Operation operation, const Profile& profile) const {
  if (const VectorSet* set = vector_set()) return set->find(operation, profile) != nullptr;
  return suite::is_asked_of(operation, suite::representative(operation, profile));
}

Result<std::optional<CaseTable>> CaseSource::questions(suite::Operation operation, const SharedProfile& profile) const {
  const auto some = [](Result<CaseTable> table) -> Result<std::optional<CaseTable>> {
    if (!table) return table.error();
    return std::optional<CaseTable>(std::move(*table));
  };
  if (const VectorSet* set = vector_set()) {
    const suite::TableEntry* entry = set->find(operation, *profile);
    if (entry == nullptr) return std::optional<CaseTable>();
    return some(suite::read_table(*set, *entry));
  }
  const Profile& kept = suite::representative(operation, *profile);
  if (!suite::is_asked_of(operation, kept)) return std::optional<CaseTable>();
  return some(suite::make_questions(*std::get<const suite::SetPlan*>(set_), operation, SharedProfile(profile, &kept)));
}

Result<void> CaseSource::answer(CaseTable& table) const {
  const VectorSet* set = vector_set();
  if (set != nullptr && !set->inputs_only) return {};
  return suite::answer_by_reference(table);
}

}  // namespace fp4proof::runners
