#pragma once
// The first operator call of a step that differs between two runs, when both make the step from the same state.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/divergence/call_trace.h"
#include "conformance/divergence/recorded_run.h"
#include "conformance/divergence/replay.h"
#include "conformance/divergence/rerun.h"

namespace fp4proof::training {

/// A step, and the state from which it is made.
struct StepAt {
  Phase phase = Phase::reinforcement;
  std::int64_t step = 0;
  TrainingState before;
};

/// A differing element with the bits of both runs and of the reference.
struct DifferingElement {
  std::string tensor;  ///< of the call
  ElementType type = ElementType::f32;
  std::vector<std::int64_t> shape;
  std::uint64_t differing = 0;  ///< elements of the tensor
  std::int64_t index = 0;       ///< of the first of them
  std::uint64_t a = 0, b = 0;
};

/// Which run has the bits of the reference.
enum class RightSide : std::uint8_t { a, b, neither };

/// The first operator call whose tensors differ when the step is made again.
struct FirstCall {
  std::size_t index = 0;  ///< calls of the step before it
  TracedPlace place;
  bool is_input = false;                  ///< what the call read differs, though nothing that was written did
  std::vector<DifferingElement> tensors;  ///< in the order of the call
  /// The reference on the same inputs, for the first of `tensors`; nothing where the inputs differ.
  std::optional<std::uint64_t> reference;
  RightSide right = RightSide::neither;
  std::optional<Replay> replay;
};

/// What both runs do in a step.
struct StepComparison {
  TraceStep a, b;                 ///< as they would record it
  std::optional<FirstCall> call;  ///< nothing where no call differs, or where the runs make different calls
  std::vector<std::string> doubts;
  bool unstable = false;  ///< made once more, the call differs no longer
};

/// Called for every step that is made again, with the number of steps ahead.
using RerunWatch = std::function<void(std::string_view what, std::int64_t steps_ahead)>;

/// Each run makes the step twice on its own backend, at most one backend open at a time.
Result<StepComparison> compare_step(const RecordedRun& a, const RecordedRun& b, const StepAt& at,
                                    const RerunWatch& watch);

}  // namespace fp4proof::training
