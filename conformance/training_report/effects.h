#pragma once
// What precision plans do to training, over seeds: the numbers behind docs/rl_results.md.

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/training_report/training_run.h"

namespace fp4proof::training_report {

/// A number over seeds.
struct Spread {
  double mean = 0;
  double low = 0;
  double high = 0;
};

/// The places where a plan codes an operand: one operand of one kind of product.
struct Pathway {
  const char* name;
  const char* product;
  const char* operand;
};
inline constexpr std::array<Pathway, 8> pathways = {{
    {"X, rollout", "rollout", "activation"},
    {"W, rollout", "rollout", "weight"},
    {"X, forward", "forward", "activation"},
    {"W, forward", "forward", "weight"},
    {"dY of dX", "input-gradient", "gradient"},
    {"W of dX", "input-gradient", "weight"},
    {"dY of dW", "weight-gradient", "gradient"},
    {"X of dW", "weight-gradient", "activation"},
}};

/// What a plan does to one pathway: means over measured steps, tensors and seeds; errors over |x|^2.
struct CodingEffect {
  double deadzone_fraction = 0;
  double relative_error = 0;
  double scale_bias = 0;
  double deadzone = 0;
  double grid = 0;
};

/// The gradient of all parameters against that of bfloat16: means over measured steps and seeds.
struct GradientEffect {
  double cosine = 0;
  double norm_ratio = 0;
  double error = 0;
  std::optional<double> bias;
  std::optional<double> variance;
};

/// A run that diverged, and the first step with a number that is not finite.
struct Divergence {
  std::uint64_t seed = 0;
  std::int64_t step = 0;
};

/// Means of runs that diverged need not be finite; those of rewards and of codings are.
struct PlanEffect {
  std::string plan;
  std::size_t seeds = 0;
  Spread final_reward;        ///< mean of the last 20 steps
  std::optional<Spread> gap;  ///< of bf16 over it, each seed against its own
  double first_entropy = 0;   ///< of step 1: the same weights under every plan
  double last_entropy = 0;    ///< mean of the last 20 steps
  double last_k3 = 0;         ///< likewise
  double steps_to_goal = 0;   ///< mean; runs that never reach 0.8 count as one step more than they have
  std::array<std::optional<CodingEffect>, pathways.size()> codings;
  std::optional<GradientEffect> gradient;
  std::vector<Divergence> diverged;
};

/// One for each plan among the ended runs of one preset and configuration, bf16 first, then from the best. The same run
/// on several backends counts once.
std::vector<PlanEffect> effects_of(std::span<const TrainingRun> runs);

/// The effect of a plan, or nullptr.
const PlanEffect* find_effect(std::span<const PlanEffect> effects, std::string_view plan);

}  // namespace fp4proof::training_report
