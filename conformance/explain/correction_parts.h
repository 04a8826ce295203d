#pragma once
// The parts of correction_text(). Each function returns whole lines; `element` is null for a table of all elements.
// Internal to the explanation.

#include <string>
#include <vector>

#include "conformance/explain/correction_story.h"
#include "conformance/explain/explanation_text.h"
#include "conformance/explain/rule_lines.h"

namespace fp4proof::explain {

std::string hadamard_part(const CorrectionStory& story, const CorrectedElement* element, const TextOptions& options);
std::string macro_part(const CorrectionStory& story, const CorrectedElement* element, const TextOptions& options);

std::string residual_table(const CorrectionStory& story, const TextOptions& options);
/// r and the mask of one element.
void tell_residual(const CorrectionStory& story, const CorrectedElement& element, RuleLines& lines);
/// From r to x2 of one element, after the scale.
void tell_residual_code(const CorrectionStory& story, const CorrectedElement& element, RuleLines& lines);

std::string value_table(const CorrectionStory& story, const TextOptions& options);
std::string value_card(const CorrectionStory& story, const CorrectedElement& element, const TextOptions& options);

/// The elements of a table: all, or those that are not 0 from the input to the corrected value.
std::vector<const CorrectedElement*> told_elements(const CorrectionStory& story, const TextOptions& options);
/// The line that says how many elements told_elements() left out; empty for none.
std::string left_out_line(const CorrectionStory& story, const TextOptions& options);

}  // namespace fp4proof::explain
