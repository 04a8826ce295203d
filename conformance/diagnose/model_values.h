#pragma once
// Dequantize and gemm as a model does them, where the reference cannot stand for it.

#include "conformance/diagnose/kernel_model.h"

namespace fp4proof::diagnose {

/// Fills `values` of every case from codes and scales. False where the shape does not go with the model.
bool decode_cases(const KernelModel& model, suite::CaseGroup& cases);

/// Fills `c` of every gemm case. Knows the accumulators seq512, seq and exact; false for the others, and for corrected
/// operands. `exact` adds in long double.
bool multiply_cases(const KernelModel& model, suite::CaseGroup& cases);

/// A binary32 number rounded to binary16 and widened again.
float round_to_binary16(float value);

/// A subnormal number as a zero of its sign.
float flushed(float value);

}  // namespace fp4proof::diagnose
