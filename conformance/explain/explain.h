#pragma once
// Explains one block.

#include "conformance/explain/explanation.h"
#include "formats/result.h"

namespace fp4proof::explain {

/// Derives every scale and code of the block step by step on exact numbers, and then compares them with
/// fp4proof::encode_block: an explanation that tells another story than the codec is an `internal` error.
///
/// `profile` must pass check_profile() (conformance/profiles/profile_rules.h) and outlive the result. `usage` error
/// where `question` does not fit the profile: a wrong number of words or random words, or a tensor scale that is not a
/// positive finite number. A block that the profile refuses is explained, not an error (Outcome::rejected_*).
Result<Explanation> explain_block(const Profile& profile, BlockQuestion question);

}  // namespace fp4proof::explain
