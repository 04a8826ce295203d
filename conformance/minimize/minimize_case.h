#pragma once
// Cutting a failing case down to what its failure takes.

#include <cstddef>

#include "conformance/minimize/judge.h"
#include "formats/result.h"

namespace fp4proof::minimize {

/// How it ended.
enum class Ending : std::uint8_t {
  minimal,         ///< nothing that is tried makes it simpler
  limit,           ///< the limit of calls came first
  not_reproduced,  ///< the case passes, or fails in another way, when it is asked alone; nothing was cut
  stateful,        ///< what the case was cut down to does not fail so in a fresh process; shown as it was found
  picked,          ///< from answers in a file, which cannot be asked again: the smallest failing case as it is
};

struct Minimal {
  Ending ending = Ending::minimal;
  Failure failure;           ///< of the case below, in a call of its own
  bool fails_fresh = false;  ///< whether the case below fails so when it is all that a fresh process is asked
  Question question;
  JudgedCase judged;  ///< of `question`: answers, right and wrong
  std::size_t nonzero_before = 0;
  std::size_t nonzero = 0;  ///< elements that are not zero
};

/// Shrinks `start` to a question that fails as `target` does (Failure::is_like):
/// one row and one block where that will do, else as few as will; the fewest nonzero elements (alone, the largest and
/// one more, a pair of factors, then delta debugging); for inputs of words the element at fault beside a plain largest
/// one; places toward the first; then every number toward the simplest that it can be (simpler.h), and again while
/// something becomes simpler. In the end no single element can be made zero, and no single number simpler.
/// Every step is judged by asking the subject and the reference. The same questions in the same order for a subject
/// that gives the same answers. A subject whose runs differ is asked three times about each candidate; what it does
/// only now and then may end less small. The last question is asked alone of a subject that was closed and starts anew.
Result<Minimal> minimize_case(Judge& judge, const Failure& target, const Question& start);

}  // namespace fp4proof::minimize
