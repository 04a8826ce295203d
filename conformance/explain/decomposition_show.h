#pragma once
// The error decomposition of a block for people and for programs.

#include <nlohmann/json.hpp>
#include <string>

#include "conformance/explain/decomposition_story.h"
#include "conformance/explain/explanation_text.h"

namespace fp4proof::explain {

/// Heading and table, or with `options.element` the card of that element. ASCII, a blank line in front.
std::string decomposition_text(const BlockDecomposition& decomposition, const TextOptions& options);

/// The member `decomposition` of an explanation; docs/explain.md describes it.
nlohmann::json decomposition_json(const BlockDecomposition& decomposition);

}  // namespace fp4proof::explain
