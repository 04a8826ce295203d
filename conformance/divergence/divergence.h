#pragma once
// Where two runs of the same configuration part: the first step, operator call, tensor and element that differ.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/divergence/recorded_run.h"
#include "conformance/divergence/step_comparison.h"

namespace fp4proof::training {

/// The first step that differs, from the records alone.
struct FirstStep {
  Phase phase = Phase::reinforcement;
  std::int64_t step = 0;  ///< 0 where all that is known is that the warm starts differ
  std::string tensor;     ///< the first recorded tensor that differs; of a warm start: in the rerun
};

struct Divergence {
  std::optional<FirstStep> step;  ///< nothing: no step that both recorded differs
  std::optional<FirstCall> call;
  /// Why there is no call, or why it proves less: a rerun did not give what was recorded, ...
  std::vector<std::string> doubts;
  /// The run whose rerun did not give what it recorded.
  std::optional<char> not_reproduced;
};

/// The first step, from the records. `corrupt` error for records that contradict themselves.
Result<std::optional<FirstStep>> first_differing_step(const RecordedRun& a, const RecordedRun& b);

/// The whole search. The state before the step is made by one of the runs, the one on the reference if there is one,
/// and checked against its chain; then both make the step from that state, each on its own backend. A backend is closed
/// before the next one opens. Errors: those of the backends and of the files of the runs.
Result<Divergence> find_divergence(const RecordedRun& a, const RecordedRun& b, const RerunWatch& watch = {});

}  // namespace fp4proof::training
