#pragma once
// From a report document to its verdict. Everything that decides stands in the document, so that merged shards are
// judged as one run is.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "conformance/verdict/exit_code.h"

namespace fp4proof::verdict {

/// Why a document has its exit code.
struct Reason {
  ExitCode code = ExitCode::conformant;
  std::string text;
};

struct Judgement {
  ExitCode code = ExitCode::conformant;
  std::vector<Reason> reasons;  ///< every one, also of codes that a worse one hides
};

/// What holds of a complete document but for `exit_code`, `verdict` and `reasons`, which it does not look at.
Judgement judge(const nlohmann::json& document);

/// Judges and writes the three fields. `verdict` is PASS or STATISTICAL at exit code 0, FAIL at 1 and 7, INCOMPLETE at
/// 5 and 6, ERROR otherwise.
Judgement pronounce(nlohmann::json& document);

/// Remarks that change no code: waivers that are expired or unused, where that is no failure.
std::vector<std::string> warnings(const nlohmann::json& document);

}  // namespace fp4proof::verdict
