#pragma once
// The charts of the runs of one preset.

#include <span>
#include <string>

#include "conformance/training_report/run_groups.h"
#include "conformance/training_report/series_style.h"

namespace fp4proof::training_report {

/// Sections of cards as HTML: learning, mismatch, quantization, gradients, time. What a group has no numbers for is
/// said below each chart, and in its place where no group has any.
std::string training_charts(std::span<const RunGroup> groups, const SeriesStyles& styles);

}  // namespace fp4proof::training_report
