#pragma once
// The tables at the top of the page.

#include <span>
#include <string>

#include "conformance/training_report/equal_runs.h"
#include "conformance/training_report/run_groups.h"
#include "conformance/training_report/series_style.h"

namespace fp4proof::training_report {

/// One row a group: final reward over its seeds, gap to bf16, steps to 0.8, k3. The best of each preset first.
std::string group_table(std::span<const RunGroup> groups, std::span<const TrainingRun> runs,
                        const SeriesStyles& styles);

/// One row a run, with its digest and whether equal runs share it.
std::string run_table(std::span<const TrainingRun> runs, std::span<const EqualRuns> equal);

}  // namespace fp4proof::training_report
