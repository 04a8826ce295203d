#include "conformance/runners/case_source.h"

#include <fmt/format.h>

#include "conformance/suite/case_class.h"
#include "conformance/suite/make_table.h"
#include "conformance/suite/reference_answers.h"
#include "conformance/suite/shared_rules.h"

namespace fp4proof::runners {

using suite::CaseTable;
using suite::VectorSet;

CaseSource CaseSource::named(const suite::SetPlan& plan) {
  CaseSource source(&plan, fmt::format("set {}", plan.name));
  source.classes_ = suite::class_entries();
  return source;
}

Result<CaseSource> CaseSource::folder(const std::filesystem::path& path) {
  Result<VectorSet> set = suite::open_set(path);
  if (!set) return set.error();
  Result<suite::Errata> errata = suite::errata_of_set(path);
  if (!errata) return errata.error();
  CaseSource source(std::move(*set), fmt::format("folder {}", path.string()));
  source.classes_ = std::get<VectorSet>(source.set_).classes;
  source.errata_ = std::move(*errata);
  return source;
}

Result<std::optional<CaseTable>> CaseSource::questions(suite::Operation operation, const SharedProfile& profile) const {
  const auto some = [](Result<CaseTable> table) -> Result<std::optional<CaseTable>> {
    if (!table) return table.error();
    return std::optional<CaseTable>(std::move(*table));
  };
  if (const auto* set = std::get_if<VectorSet>(&set_)) {
    const suite::TableEntry* entry = set->find(operation, *profile);
    if (entry == nullptr) return std::optional<CaseTable>();
    return some(suite::read_table(*set, *entry));
  }
  const Profile& kept = suite::representative(operation, *profile);
  if (!suite::is_asked_of(operation, kept)) return std::optional<CaseTable>();
  return some(suite::make_questions(*std::get<const suite::SetPlan*>(set_), operation, SharedProfile(profile, &kept)));
}

Result<void> CaseSource::answer(CaseTable& table) const {
  const auto* set = std::get_if<VectorSet>(&set_);
  if (set != nullptr && !set->inputs_only) return {};
  return suite::answer_by_reference(table);
}

}  // namespace fp4proof::runners
