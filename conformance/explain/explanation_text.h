#pragma once
// An explanation for people.

#include <cstddef>
#include <optional>
#include <string>

#include "conformance/explain/explanation.h"

namespace fp4proof::explain {

struct TextOptions {
  bool colour = false;         ///< ANSI colours
  bool all = false;            ///< every element in a line of its own, zeros too
  std::optional<int> element;  ///< only this element, with everything that is known about it
  std::size_t width = 0;       ///< characters a line; 0: as wide as it takes
};

/// The text, ASCII, one LF at the end. `element` must lie in the block.
std::string explanation_text(const Explanation& explanation, const TextOptions& options = {});

}  // namespace fp4proof::explain
