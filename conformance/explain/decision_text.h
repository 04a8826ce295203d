#pragma once
// Why an element got its code, in one line. Internal to the explanation.

#include <string>

#include "conformance/explain/explanation.h"
#include "conformance/explain/ink_table.h"

namespace fp4proof::explain {

/// The line, and how it catches the eye: ties and random decisions are notices, clamped and special values alarms.
Cell decision_cell(const Explanation& explanation, const ElementStory& story);

/// A code as "0x7", with as many digits as the element has.
std::string code_text(Element element, std::uint8_t code);

}  // namespace fp4proof::explain
