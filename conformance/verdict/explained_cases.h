#pragma once
// The steps to the right answer, for the reader of a report who looks at a wrong one.

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "conformance/verify/compare.h"

namespace fp4proof::verdict {

/// Explains the first wrong case of quantize under each profile; none under one that rounds stochastically. For one
/// thread.
class ExplainedCases {
 public:
  void saw(const verify::ComparedCase& compared);

  /// Adds `explanation` to the first mismatch of quantize under each profile, where that case was explained: `steps` as
  /// docs/explain.md has them, and of `elements` the one that is to blame.
  void add_to(nlohmann::json& mismatches) const;

 private:
  std::map<std::string, nlohmann::json, std::less<>> profiles_;  // with "case_id"
};

/// Takes the explanations out of all mismatches but the first of each operation and profile, as one run has them.
void keep_first_explanations(nlohmann::json& mismatches);

}  // namespace fp4proof::verdict
