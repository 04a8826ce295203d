#include <fmt/format.h>

#include "conformance/diagnose/diagnose.h"

namespace fp4proof::diagnose {

namespace {

std::string joined(const std::vector<NamedChange>& changes) {
  std::string text;
  for (const NamedChange& change : changes) text += (text.empty() ? "" : " together with ") + change.text;
  return text;
}

/// "all 12 mismatches" or "all 4096 examined ones of 40112 mismatches".
std::string all_of(const TableDiagnosis& diagnosis) {
  if (diagnosis.examined == diagnosis.mismatches) {
    return diagnosis.mismatches == 1 ? "the one mismatch" : fmt::format("all {} mismatches", diagnosis.mismatches);
  }
  return fmt::format("all {} examined ones of {} mismatches", diagnosis.examined, diagnosis.mismatches);
}

/// "12 mismatches", "the one mismatch" or "4096 examined ones of 40112 mismatches".
std::string examined_of(const TableDiagnosis& diagnosis) {
  if (diagnosis.mismatches == 1) return "the one mismatch";
  if (diagnosis.examined == diagnosis.mismatches) return fmt::format("{} mismatches", diagnosis.mismatches);
  return fmt::format("{} examined ones of {} mismatches", diagnosis.examined, diagnosis.mismatches);
}

std::string alternatives(const TableDiagnosis& diagnosis) {
  std::string text;
  for (const Explanation& explanation : diagnosis.explanations) {
    text += (text.empty() ? "" : "; or ") + joined(explanation.changes);
  }
  return text;
}

std::string parts(const TableDiagnosis& diagnosis) {
  std::string text;
  for (const Explanation& explanation : diagnosis.explanations) {
    text +=
        fmt::format("{}{} explains {}", text.empty() ? "" : "; ", joined(explanation.changes), explanation.explained);
    if (explanation.contradicted != 0) {
      text += fmt::format(" (contradicted by {} {})", explanation.contradicted,
                          explanation.contradicted == 1 ? "case" : "cases");
    }
  }
  return text;
}

}  // namespace

std::string to_text(const TableDiagnosis& diagnosis) {
  const bool several = diagnosis.mismatches != 1;
  switch (diagnosis.outcome) {
    case Outcome::explained: {
      const bool pair = diagnosis.explanations.front().changes.size() > 1;
      return fmt::format("behaves as {}; {} explained{}", alternatives(diagnosis), all_of(diagnosis),
                         pair ? ", by neither change alone" : "");
    }
    case Outcome::ambiguous:
      return fmt::format("{} explained equally by {} different changes, which these cases do not tell apart: {}",
                         all_of(diagnosis), diagnosis.explanations.size(), alternatives(diagnosis));
    case Outcome::partial:
      if (diagnosis.explanations.front().explained == diagnosis.examined) {
        return fmt::format("no known rule explains {}; the answers fit {}", examined_of(diagnosis),
                           alternatives(diagnosis));
      }
      return fmt::format("no change and no pair of changes explains {}{}; {}", several ? "all of " : "",
                         examined_of(diagnosis), parts(diagnosis));
    case Outcome::unexplained:
      return fmt::format("no known change explains {}{}", several ? "any of " : "", examined_of(diagnosis));
  }
  return {};
}

nlohmann::json to_json(const TableDiagnosis& diagnosis) {
  nlohmann::json explanations = nlohmann::json::array();
  for (const Explanation& explanation : diagnosis.explanations) {
    nlohmann::json changes = nlohmann::json::array();
    for (const NamedChange& change : explanation.changes) {
      changes.push_back({{"id", change.id}, {"dimension", change.dimension}, {"text", change.text}});
    }
    explanations.push_back({{"changes", std::move(changes)},
                            {"explained", explanation.explained},
                            {"contradicted", explanation.contradicted}});
  }
  return {{"mismatches", diagnosis.mismatches},
          {"examined", diagnosis.examined},
          {"outcome", name_of(diagnosis.outcome)},
          {"text", to_text(diagnosis)},
          {"explanations", std::move(explanations)}};
}

}  // namespace fp4proof::diagnose
