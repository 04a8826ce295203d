#include "conformance/verdict/merge_diagnosis.h"

#include <algorithm>
#include <optional>

#include "conformance/diagnose/diagnose.h"

namespace fp4proof::verdict {

namespace {

using diagnose::Explanation;
using diagnose::NamedChange;
using diagnose::Outcome;
using diagnose::TableDiagnosis;
using nlohmann::json;

TableDiagnosis diagnosis_of(const json& value) {
  TableDiagnosis diagnosis;
  diagnosis.mismatches = value.at("mismatches");
  diagnosis.examined = value.at("examined");
  const auto outcome = std::ranges::find(diagnose::outcome_names, value.at("outcome").get<std::string>());
  diagnosis.outcome = outcome == diagnose::outcome_names.end()
                          ? Outcome::unexplained
                          : static_cast<Outcome>(outcome - diagnose::outcome_names.begin());
  for (const json& entry : value.at("explanations")) {
    Explanation& explanation = diagnosis.explanations.emplace_back();
    explanation.explained = entry.at("explained");
    explanation.contradicted = entry.at("contradicted");
    for (const json& change : entry.at("changes"))
      explanation.changes.push_back({change.at("id"), change.at("dimension"), change.at("text")});
  }
  return diagnosis;
}

bool explains_all(const TableDiagnosis& diagnosis) {
  return diagnosis.outcome == Outcome::explained || diagnosis.outcome == Outcome::ambiguous;
}

/// The explanation of the same changes.
const Explanation* find(const TableDiagnosis& diagnosis, const Explanation& wanted) {
  const auto is_same = [&](const Explanation& explanation) {
    return std::ranges::equal(explanation.changes, wanted.changes, {}, &NamedChange::id, &NamedChange::id);
  };
  const auto found = std::ranges::find_if(diagnosis.explanations, is_same);
  return found == diagnosis.explanations.end() ? nullptr : &*found;
}

}  // namespace

json merged_diagnosis(const json& a, const json& b) {
  TableDiagnosis sum = diagnosis_of(a);
  const TableDiagnosis other = diagnosis_of(b);
  sum.mismatches += other.mismatches;
  sum.examined += other.examined;
  if (sum.outcome == Outcome::unexplained && other.outcome == Outcome::unexplained) return to_json(sum);
  if (!explains_all(sum) || !explains_all(other)) return {};
  std::erase_if(sum.explanations, [&](const Explanation& mine) { return find(other, mine) == nullptr; });
  if (sum.explanations.empty()) return {};
  for (Explanation& mine : sum.explanations) {
    const Explanation& theirs = *find(other, mine);
    mine.explained += theirs.explained;
    mine.contradicted += theirs.contradicted;
  }
  sum.outcome = sum.explanations.size() == 1 ? Outcome::explained : Outcome::ambiguous;
  return to_json(sum);
}

}  // namespace fp4proof::verdict
