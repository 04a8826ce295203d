#pragma once
// The parts of correction stacks and precision plans, for people.

#include <string>

#include "formats/spec_corrections.h"
#include "formats/spec_plans.h"

namespace fp4proof::cli {

/// The name, the summary and every field of the parts that are on, one a line.
std::string stack_text(const CorrectionStack& stack);

/// The name, the summary, profile and stack of every operand, and every other field, one a line.
std::string plan_text(const PrecisionPlan& plan);

}  // namespace fp4proof::cli
