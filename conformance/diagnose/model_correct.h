#pragma once
// Corrections as a model applies them, where the reference cannot stand for it.

#include "conformance/diagnose/kernel_model.h"

namespace fp4proof::diagnose {

/// Fills the outputs of every `correct` case under the group's stack, changed as the model says. Outputs that the
/// changed stack does not have are zero. False where the stack is refused or the shape does not go with it, and for a
/// fault of macro blocks or masks under stochastic rounding.
bool correct_cases(const KernelModel& model, suite::CaseGroup& cases);

}  // namespace fp4proof::diagnose
