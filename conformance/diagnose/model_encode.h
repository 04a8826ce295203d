#pragma once
// Quantize as a model does it, block by block, where the reference cannot stand for it.

#include "conformance/diagnose/kernel_model.h"

namespace fp4proof::diagnose {

/// Fills codes, scales and tensor scale of every case. `model` has a profile that check_profile() accepts. False where
/// the group's shape does not go with it.
bool encode_cases(const KernelModel& model, suite::CaseGroup& cases);

}  // namespace fp4proof::diagnose
