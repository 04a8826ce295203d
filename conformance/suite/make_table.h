#pragma once
// From classes to tables of cases.

#include "conformance/suite/case_group.h"
#include "conformance/suite/sets.h"
#include "formats/result.h"

namespace fp4proof::suite {

/// The questions of a set for one operation and profile: inputs, ids and classes; expected outputs still empty. Classes
/// in order, groups in order of first appearance, a question that two classes ask kept once, under the first of them.
/// Where a profile rounds stochastically and the class states no random words, they are Philox words: stream `cases`,
/// the step of the class, elements counted from 2^32 on through its cases.
/// The same on every machine. `internal` error where a class breaks its promises.
Result<CaseTable> make_questions(const SetPlan& set, Operation operation, SharedProfile profile);

/// make_questions() and the answers of the CPU reference.
Result<CaseTable> make_table(const SetPlan& set, Operation operation, SharedProfile profile);

}  // namespace fp4proof::suite
