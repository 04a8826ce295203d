#pragma once
// The operators of training on the CPU: the reference behind conformance/training_backend.h.

#include "conformance/training_backend.h"

namespace fp4proof::training {

/// The table of the CPU reference. Its memory is host memory, and every call has run when it returns. It may be used
/// from one thread at a time.
const fp4proof_training* reference_training();

}  // namespace fp4proof::training
