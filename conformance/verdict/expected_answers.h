#pragma once
// Whether the expected answers that a folder holds are right.

#include <optional>
#include <vector>

#include "conformance/profiles/profile_json.h"
#include "conformance/runners/case_source.h"
#include "conformance/suite/operation.h"
#include "formats/result.h"

namespace fp4proof::verdict {

/// Digests say that a set is whole, not that it is right: whoever edits the answers can write the digests anew. So the
/// CPU reference answers every case again. `corrupt` error that names the first case whose expected answer is another,
/// withdrawn cases apart. Looks at the tables of `operation` (all) that ask about one of `profiles` (all if empty).
/// Nothing is to be looked at where the cases were made in memory, or hold no answers.
Result<void> check_expected_answers(const runners::CaseSource& cases, std::optional<suite::Operation> operation,
                                    const std::vector<SharedProfile>& profiles);

}  // namespace fp4proof::verdict
