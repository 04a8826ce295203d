#pragma once
// A corrected block for people.

#include <string>

#include "conformance/explain/correction_story.h"
#include "conformance/explain/explanation_text.h"

namespace fp4proof::explain {

/// The text, ASCII, one LF at the end. `options.element` must lie in the block.
std::string correction_text(const CorrectionStory& story, const TextOptions& options = {});

}  // namespace fp4proof::explain
