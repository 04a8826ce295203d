#include "conformance/verdict/expected_answers.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/suite/reference_answers.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::verdict {

namespace {

using suite::CaseGroup;
using suite::CaseTable;
using suite::CaseTensor;

/// The name of the first expected tensor in which a case differs; empty where none does.
std::string differing_tensor(const CaseGroup& stored, const CaseGroup& right, std::size_t index) {
  for (std::size_t t = 0; t < stored.tensors.size(); ++t) {
    const CaseTensor& tensor = stored.tensors[t];
    if (tensor.expected && !std::ranges::equal(tensor.of_case(index), right.tensors[t].of_case(index)))
      return tensor.name;
  }
  return {};
}

Result<void> check_table(const runners::CaseSource& cases, const suite::VectorSet& set,
                         const suite::TableEntry& entry) {
  const Result<CaseTable> stored = suite::read_table(set, entry);
  if (!stored) return stored.error();
  CaseTable right = *stored;
  if (const Result<void> answered = suite::answer_by_reference(right); !answered) return answered.error();
  for (std::size_t g = 0; g < right.groups.size(); ++g) {
    const CaseGroup& group = stored->groups[g];
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (cases.errata().contains(group.ids[i])) continue;
      const std::string tensor = differing_tensor(group, right.groups[g], i);
      if (tensor.empty()) continue;
      return Error{ErrorKind::corrupt,
                   fmt::format("{}: case {} of group {}: the expected {} are not those of the reference, so the set "
                               "proves no level; get it again, or make it with 'fp4proof generate'",
                               quote((set.folder / entry.file).string()), suite::id_text(group.ids[i]),
                               suite::group_name(group.spec), tensor)};
    }
  }
  return {};
}

}  // namespace

Result<void> check_expected_answers(const runners::CaseSource& cases, std::optional<suite::Operation> operation,
                                    const std::vector<SharedProfile>& profiles) {
  const suite::VectorSet* set = cases.vector_set();
  if (set == nullptr || set->inputs_only) return {};
  for (const suite::TableEntry& entry : set->tables) {
    const auto asks = [&](const SharedProfile& profile) { return set->find(entry.operation, *profile) == &entry; };
    const bool is_asked = profiles.empty() || std::ranges::any_of(profiles, asks);
    if (!is_asked || operation.value_or(entry.operation) != entry.operation) continue;
    if (const Result<void> checked = check_table(cases, *set, entry); !checked) return checked;
  }
  return {};
}

}  // namespace fp4proof::verdict
