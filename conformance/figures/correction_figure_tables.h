#pragma once
// The tables of correction_figures(), one function each.

#include "conformance/figures/correction_figures.h"
#include "conformance/figures/correction_measurements.h"

namespace fp4proof {

FigureTable scale_rule_errors(CorrectionMeasurements& measurements);
FigureTable gaussian_shares(CorrectionMeasurements& measurements);
FigureTable student_shares(CorrectionMeasurements& measurements);
FigureTable hif4_shares(CorrectionMeasurements& measurements);
FigureTable qwen_shares(CorrectionMeasurements& measurements);
FigureTable identities(CorrectionMeasurements& measurements);
FigureTable macro_scale_left(CorrectionMeasurements& measurements);
FigureTable alpha_sweep(CorrectionMeasurements& measurements);
FigureTable residual_errors(CorrectionMeasurements& measurements);
FigureTable residual_masks(CorrectionMeasurements& measurements);
FigureTable gains(CorrectionMeasurements& measurements);

std::vector<ComponentChange> component_changes(CorrectionMeasurements& measurements);

}  // namespace fp4proof
