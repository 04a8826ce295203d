#pragma once
// A captured call, answered by the reference.

#include "conformance/divergence/call_trace.h"
#include "formats/result.h"

namespace fp4proof::training {

/// The call with what the reference writes from the same inputs. `internal` error where it refuses.
Result<CapturedCall> reference_answer(const CapturedCall& call);

}  // namespace fp4proof::training
