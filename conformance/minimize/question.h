#pragma once
// One case without its answer: what the minimiser cuts down.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "conformance/profiles/profile_json.h"
#include "conformance/suite/case_group.h"
#include "conformance/suite/operation.h"
#include "formats/result.h"

namespace fp4proof::minimize {

/// What is asked about: the same for a case and everything that it is cut down to.
struct Topic {
  suite::Operation operation = suite::Operation::quantize;
  SharedProfile profile;  ///< as it was asked for
};

/// A shape, and the bytes of each input tensor in the order of suite::group_tensors().
struct Question {
  suite::GroupSpec spec;
  std::vector<std::vector<std::uint8_t>> inputs;

  bool operator==(const Question&) const = default;
};

/// Case `index` of a group.
Question question_of(const suite::CaseGroup& group, std::size_t index);

/// Questions of one shape, at least one, as the only group of a table: ids 0, 1, ..., class 0, outputs empty. `usage`
/// error where the shape does not suit the profile.
Result<suite::CaseTable> table_of(const Topic& topic, std::span<const Question> questions);

/// Whether the profile has an answer to the question: it may refuse NaN and infinity.
bool has_answer(const Topic& topic, const Question& question);

}  // namespace fp4proof::minimize
