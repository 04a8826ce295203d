#include "conformance/verdict/set_contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_set>

#include "conformance/suite/make_table.h"
#include "conformance/suite/reference_answers.h"
#include "conformance/suite/sets.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::verdict {

namespace {

using suite::CaseGroup;
using suite::CaseTable;
using suite::CaseTensor;

constexpr const char* mend = "so the set proves no level; get it again, or make it with 'fp4proof generate'";

/// Whether every case is there that `plan` has for the table.
Result<void> check_questions(const CaseTable& stored, const suite::SetPlan& plan, const std::string& file) {
  const Result<CaseTable> made = suite::make_questions(plan, stored.operation, stored.profile);
  if (!made) return made.error();
  std::unordered_set<std::uint64_t> ids;
  for (const CaseGroup& group : stored.groups) ids.insert(group.ids.begin(), group.ids.end());
  for (const CaseGroup& group : made->groups) {
    const auto missing = std::ranges::find_if_not(group.ids, [&](std::uint64_t id) { return ids.contains(id); });
    if (missing == group.ids.end()) continue;
    return Error{ErrorKind::corrupt,
                 fmt::format("{}: case {} of group {} of the set {} is missing, {}", file, suite::id_text(*missing),
                             suite::group_name(group.spec), plan.name, mend)};
  }
  return {};
}

/// The name of the first expected tensor in which a case differs; empty where none does.
std::string differing_tensor(const CaseGroup& stored, const CaseGroup& right, std::size_t index) {
  for (std::size_t t = 0; t < stored.tensors.size(); ++t) {
    const CaseTensor& tensor = stored.tensors[t];
    if (tensor.expected && !std::ranges::equal(tensor.of_case(index), right.tensors[t].of_case(index)))
      return tensor.name;
  }
  return {};
}

Result<void> check_answers(const runners::CaseSource& cases, const CaseTable& stored, const std::string& file) {
  CaseTable right = stored;
  if (const Result<void> answered = suite::answer_by_reference(right); !answered) return answered.error();
  for (std::size_t g = 0; g < right.groups.size(); ++g) {
    const CaseGroup& group = stored.groups[g];
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (cases.errata().contains(group.ids[i])) continue;
      const std::string tensor = differing_tensor(group, right.groups[g], i);
      if (tensor.empty()) continue;
      return Error{ErrorKind::corrupt,
                   fmt::format("{}: case {} of group {}: the expected {} are not those of the reference, {}", file,
                               suite::id_text(group.ids[i]), suite::group_name(group.spec), tensor, mend)};
    }
  }
  return {};
}

}  // namespace

Result<void> check_set_contents(const runners::CaseSource& cases, std::optional<suite::Operation> operation,
                                const std::vector<SharedProfile>& profiles, bool answers) {
  const suite::VectorSet* set = cases.vector_set();
  if (set == nullptr) return {};
  const suite::SetPlan* plan = set->shard == "1/1" ? suite::find_set(set->manifest.set) : nullptr;
  for (const suite::TableEntry& entry : set->tables) {
    const auto asks = [&](const SharedProfile& profile) { return set->find(entry.operation, *profile) == &entry; };
    const bool is_asked = profiles.empty() || std::ranges::any_of(profiles, asks);
    if (!is_asked || operation.value_or(entry.operation) != entry.operation) continue;
    const Result<CaseTable> stored = suite::read_table(*set, entry);
    if (!stored) return stored.error();
    const std::string file = quote((set->folder / entry.file).string());
    if (plan != nullptr) {
      if (const Result<void> asked = check_questions(*stored, *plan, file); !asked) return asked;
    }
    if (!answers || set->inputs_only) continue;
    if (const Result<void> answered = check_answers(cases, *stored, file); !answered) return answered;
  }
  return {};
}

}  // namespace fp4proof::verdict
