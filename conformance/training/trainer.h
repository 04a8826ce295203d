#pragma once
// The two phases of a run, step by step: supervised warm start, then group-relative policy optimization.

#include <cstdint>
#include <optional>

#include "conformance/training/config.h"
#include "conformance/training/loss.h"
#include "conformance/training/optimizer.h"
#include "conformance/training/rollout.h"
#include "conformance/training/teacher.h"
#include "conformance/training/trace.h"
#include "formats/result.h"

namespace fp4proof::training {

struct WarmStartRecord {
  std::int64_t step = 0;
  double loss = 0;  ///< mean over answer tokens
  OptimizerStep optimizer;
};

/// What a step of reinforcement left; no time in it, so it belongs to the digest chain or follows from what does.
struct StepRecord {
  std::int64_t step = 0;
  double reward = 0;  ///< mean; equal to the share of exact matches
  double entropy = 0;
  double length = 0;       ///< tokens an answer
  double live_groups = 0;  ///< the share of groups whose rewards differ
  float noise_sigma = 0;
  Loss loss;  ///< its weights are left out
  OptimizerStep optimizer;
};

/// Steps of the warm start: teacher forcing on noisy answers, bfloat16.
class WarmStarter {
 public:
  /// Parameters as initial_parameters() or a checkpoint gave them; everything must outlive this.
  WarmStarter(Operators& operators, const Config& config, const PlanCodings& bf16, Parameters& parameters);

  WarmStartRecord step(std::int64_t step, Trace* trace = nullptr);

 private:
  Operators* operators_;
  Config config_;
  Parameters* parameters_;
  Model model_;
  Teacher teacher_;
  Optimizer optimizer_;
};

/// Looks into steps of reinforcement; changes no bit of them.
class StepWatch {
 public:
  virtual ~StepWatch() = default;
  virtual void begin(std::int64_t step) = 0;
  /// The gradients of the step stand, the weights have not moved. `tokens` and `weights` as Teacher got them.
  virtual void before_update(std::span<const std::int32_t> tokens, std::span<const float> weights) = 0;
  virtual Result<void> end() = 0;
};

/// Steps of reinforcement under a plan.
class Reinforcer {
 public:
  /// Error: a noise schedule that does not fit the number of steps.
  static Result<void> check(const Config& config, const PlanCodings& plan);

  Reinforcer(Operators& operators, const Config& config, const PlanCodings& plan, Parameters& parameters);

  /// Step `step`, counted from 1.
  StepRecord step(std::int64_t step, Trace* trace = nullptr, StepWatch* watch = nullptr);

 private:
  Operators* operators_;
  Config config_;
  const PlanCodings* plan_;
  Parameters* parameters_;
  Model model_;
  Rollout rollout_;
  Teacher teacher_;
  Optimizer optimizer_;
};

/// The share of right answers to `prompts` fixed problems of Stream::eval, taking the most likely token.
class Evaluator {
 public:
  Evaluator(Operators& operators, const Config& config, const PlanCodings& plan, Parameters& parameters,
            std::int64_t prompts);

  double accuracy(Product product, std::int64_t step);

 private:
  Config config_;
  Model model_;
  Rollout rollout_;
  std::vector<Problem> problems_;
};

}  // namespace fp4proof::training
