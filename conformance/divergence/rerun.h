#pragma once
// A recorded run made again, step by step, on its own backend.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "conformance/divergence/recorded_run.h"
#include "conformance/training/load_backend.h"
#include "conformance/training/trainer.h"

namespace fp4proof::training {

enum class Phase : std::uint8_t { warm_start, reinforcement };

/// Weights and moments between two steps, on the host.
struct TrainingState {
  std::vector<std::vector<float>> tensors;  ///< weight and both moments of every parameter
  std::uint64_t chain = 0;
};

class Rerun {
 public:
  /// Opens the backend, which stays open as long as this lives; of plug-ins (mixed_training.h) one at a time. The
  /// weights are those before the warm start. `run` must outlive it.
  static Result<std::unique_ptr<Rerun>> open(const RecordedRun& run);

  /// Goes on behind a checkpoint or a warm start: its number of steps in its phase.
  Result<std::int64_t> load(const std::filesystem::path& checkpoint, Phase phase);

  /// What the end of the warm start does.
  void begin_reinforcement();

  /// One step; `observer` sees its calls.
  Result<TraceStep> step(Phase phase, std::int64_t step, CallObserver* observer = nullptr);

  /// The chain behind the last step.
  std::uint64_t chain() const { return trace_.chain(); }
  TrainingState state();
  void set(const TrainingState& state);

  Operators& operators() { return operators_; }
  const Parameters& parameters() const { return parameters_; }

 private:
  Rerun(const RecordedRun& run, SharedBackend backend, PlanCodings plan, PlanCodings bf16);
  template <class Visit>
  void visit_tensors(Visit visit);

  const RecordedRun* run_;
  SharedBackend backend_;
  Operators operators_;
  PlanCodings plan_, bf16_;
  Parameters parameters_;
  std::optional<WarmStarter> starter_;
  std::optional<Reinforcer> reinforcer_;
  Trace trace_;
};

}  // namespace fp4proof::training
