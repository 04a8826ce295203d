#pragma once
// Runs whose digests must be equal: the same preset, configuration, plan and seed, on whatever backend.

#include <span>
#include <string>
#include <vector>

#include "conformance/training_report/training_run.h"

namespace fp4proof::training_report {

/// At least two ended runs.
struct EqualRuns {
  std::vector<const TrainingRun*> runs;
  const TrainingRun* differing = nullptr;  ///< the first whose digest is not that of runs.front()
  /// What differs first in the traces of these two, in words such as "step 3, tokens".
  std::string where;

  bool have_equal_digests() const { return differing == nullptr; }
};

/// By preset, plan and seed. Reads the traces of runs that differ: `corrupt` error for what is no trace. The runs must
/// outlive the result.
Result<std::vector<EqualRuns>> compare_equal_runs(std::span<const TrainingRun> runs);

}  // namespace fp4proof::training_report
