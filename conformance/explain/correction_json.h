#pragma once
// A corrected block for programs. docs/explain.md describes the form.

#include <nlohmann/json.hpp>

#include "conformance/explain/correction_story.h"

namespace fp4proof::explain {

/// The members of explanation_json() for what the inner quantizer sees, with `correction` and `decomposition` besides.
nlohmann::json correction_json(const CorrectionStory& story);

}  // namespace fp4proof::explain
