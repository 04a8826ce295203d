#pragma once
// The parts of explanation_text(), one file each. Internal to the explanation.

#include <string>

#include "conformance/explain/explanation.h"
#include "conformance/explain/explanation_text.h"

namespace fp4proof::explain {

inline constexpr std::size_t text_indent = 2;

/// Heading and table of all elements.
std::string elements_part(const Explanation& explanation, const TextOptions& options);

/// Heading and card of one element.
std::string element_card(const Explanation& explanation, const ElementStory& story, const TextOptions& options);

/// HiF4: heading and table of the level bits.
std::string level_bits_part(const Explanation& explanation, const TextOptions& options);

/// The bytes of the block.
std::string bytes_part(const Explanation& explanation, const TextOptions& options);

}  // namespace fp4proof::explain
