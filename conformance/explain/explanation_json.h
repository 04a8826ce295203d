#pragma once
// An explanation for programs. docs/explain.md describes the form.

#include <nlohmann/json.hpp>
#include <string_view>

#include "conformance/explain/explanation.h"

namespace fp4proof::explain {

/// The value of the member `format`. A new number whenever a reader of the old one could be misled.
inline constexpr std::string_view explanation_format = "fp4proof-explain/1";

/// Everything of the explanation, nothing elided. Every member is always there; what does not apply is null.
nlohmann::json explanation_json(const Explanation& explanation);

}  // namespace fp4proof::explain
