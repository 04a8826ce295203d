#pragma once
// A minimal case with everything that is shown of it.

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "conformance/minimize/find_failures.h"
#include "conformance/minimize/minimize_case.h"
#include "formats/result.h"

namespace fp4proof::minimize {

/// How the right answer comes about.
struct AnswerStory {
  std::string wrong_step;  ///< the first step at which the answer departs, one line; empty under a fault
  std::string steps;       ///< every step to the right answer, lines; empty where there are none
  std::string command;     ///< `fp4proof explain ...` for the block; empty where no such line holds the question
};

/// Of the block (quantize, correct, decompose) or the value (dequantize, products) at fault.
Result<AnswerStory> answer_story(const Topic& topic, const Minimal& minimal);

struct MinimalCase {
  FoundCase found;
  Minimal minimal;
  AnswerStory story;
  std::uint64_t case_id = 0;  ///< of the minimal case; it is kept under the profile that has the cases of the topic's
  std::size_t calls = 0;      ///< to the subject
  std::size_t questions = 0;
};

/// Minimises the case, or where it does not fail alone the first of `found.others` that does, and describes it.
Result<MinimalCase> minimize_found(Judge& judge, const FoundCase& found);

/// Adds story and identity to what was minimised.
Result<MinimalCase> describe(FoundCase found, Minimal minimal, const Judge& judge);

/// For people: the case in words, what is right and what came, the first wrong step, a line to paste, arrays for Python
/// and C, every step.
std::string to_text(const MinimalCase& one);

/// For programs, docs/minimize.md gives the fields.
nlohmann::json to_json(const MinimalCase& one);

}  // namespace fp4proof::minimize
