#pragma once
// The page that compares training runs: self-contained, without a script, well-formed as XML too.

#include <span>
#include <string>

#include "conformance/training_report/equal_runs.h"
#include "conformance/training_report/training_run.h"

namespace fp4proof::training_report {

/// At least one run; `equal` is what compare_equal_runs() says of them.
std::string training_page(std::span<const TrainingRun> runs, std::span<const EqualRuns> equal);

}  // namespace fp4proof::training_report
