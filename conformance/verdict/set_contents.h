#pragma once
// Whether a folder holds the cases of the set that it is called after, and the right answers to them.

#include <optional>
#include <vector>

#include "conformance/profiles/profile_json.h"
#include "conformance/runners/case_source.h"
#include "conformance/suite/operation.h"
#include "formats/result.h"

namespace fp4proof::verdict {

/// Digests say that a set is whole, not that it is right: whoever edits cases or answers can write the digests anew. So
/// the set is made once more, and the CPU reference answers every case of the folder again. `corrupt` error that names
/// the first case that is missing, or the first whose expected answer is another, withdrawn cases apart. Looks at the
/// tables of `operation` (all) that ask about one of `profiles` (all if empty). Cases that were made in memory are
/// right; of a part of a set, or of a set that this program does not know, no case is missed; and of a folder without
/// answers, or where `answers` is false, none is looked at.
Result<void> check_set_contents(const runners::CaseSource& cases, std::optional<suite::Operation> operation,
                                const std::vector<SharedProfile>& profiles, bool answers);

}  // namespace fp4proof::verdict
