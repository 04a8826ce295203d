#pragma once
// The report document, docs/reports.md.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "conformance/runners/run_backend.h"
#include "conformance/verdict/check.h"
#include "conformance/verdict/decomposed_cases.h"
#include "conformance/verdict/explained_cases.h"
#include "conformance/verdict/places.h"

namespace fp4proof::verdict {

/// What a document is made from.
struct Findings {
  const runners::RunReport& report;
  const PlaceCollector& places;
  const ExplainedCases& explained;
  const DecomposedCases& decomposed;
  const std::vector<nlohmann::json>& diagnoses;    ///< one for each table of the report, or none at all
  const std::vector<nlohmann::json>& statistics;   ///< one for each table of the report, null for most; or none at all
  const std::vector<std::uint64_t>& waived_cases;  ///< for each waiver: how many cases it let pass
};

/// Everything but the verdict. The document of a shard has also `group_places` in each table, which its merger needs.
nlohmann::json document_of(const CheckRequest& request, const Findings& findings);

}  // namespace fp4proof::verdict
