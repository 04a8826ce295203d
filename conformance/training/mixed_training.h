#pragma once
// A vendor's plug-in (conformance/backend.h) under a training run: it quantizes and multiplies, all else is done by the
// reference.

#include <string>

#include "conformance/backend.h"
#include "conformance/training_backend.h"
#include "formats/result.h"

namespace fp4proof::training {

/// The mixed table. Products of bfloat16 stay with the reference, and so does what the plug-in does not offer. One at a
/// time: the table of an earlier call is no longer valid. The plug-in runs in this process. `usage` error for one that
/// takes no host memory.
Result<const fp4proof_training*> mixed_training(const fp4proof_backend& plugin);

/// Whether the plug-in of the last mixed table was asked and has answered nothing: the run is one of the reference.
bool mixed_answered_nothing();

/// Who did how much under the last mixed table; empty where there is none.
std::string mixed_account();

}  // namespace fp4proof::training
