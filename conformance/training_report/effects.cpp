#include "conformance/training_report/effects.h"

#include <algorithm>

#include "conformance/training_report/curves.h"
#include "conformance/training_report/numbers.h"
#include "conformance/training_report/run_groups.h"

namespace fp4proof::training_report {

namespace {

Spread spread_of(const Numbers& numbers) { return {numbers.mean(), numbers.low(), numbers.high()}; }

std::optional<CodingEffect> coding_effect(const RunGroup& group, const Pathway& pathway) {
  const auto mean_of = [&](double QuantLine::*number) {
    return mean_error(
        group,
        [&](const QuantLine& line) { return line.product == pathway.product && line.operand == pathway.operand; },
        number);
  };
  const auto deadzone_fraction = mean_of(&QuantLine::deadzone_fraction);
  if (!deadzone_fraction) return std::nullopt;
  return CodingEffect{*deadzone_fraction, *mean_of(&QuantLine::relative_error), *mean_of(&QuantLine::scale_bias),
                      *mean_of(&QuantLine::deadzone), *mean_of(&QuantLine::grid)};
}

std::optional<GradientEffect> gradient_effect(const RunGroup& group) {
  Numbers cosine;
  Numbers norm_ratio;
  Numbers error;
  Numbers bias;
  Numbers variance;
  for (const TrainingRun* run : group.runs) {
    for (const GradientLine& line : run->gradients.value_or(std::vector<GradientLine>())) {
      cosine.add(line.cosine);
      norm_ratio.add(line.norm_ratio);
      error.add(line.error);
      bias.add(line.bias);
      variance.add(line.variance);
    }
  }
  if (cosine.values.empty()) return std::nullopt;
  return GradientEffect{cosine.mean(), norm_ratio.mean(), error.mean(), bias.mean_or_nothing(),
                        variance.mean_or_nothing()};
}

double steps_to_goal(const TrainingRun& run) {
  const std::uint64_t never = run.steps.size() + 1;
  return static_cast<double>(run.summary->steps_to_goal.value_or(never));
}

PlanEffect effect_of(const RunGroup& group, std::span<const TrainingRun> runs) {
  PlanEffect effect;
  effect.plan = group.runs.front()->plan_name;
  effect.seeds = group.runs.size();
  Numbers rewards;
  Numbers gaps;
  Numbers first_entropy;
  Numbers last_entropy;
  Numbers last_k3;
  Numbers steps;
  for (const TrainingRun* run : group.runs) {
    rewards.add(run->summary->final_reward);
    if (const TrainingRun* bf16 = bf16_of(*run, runs)) gaps.add(bf16->summary->final_reward - rewards.values.back());
    first_entropy.add(run->steps.front().entropy);
    last_entropy.add(mean_of_last(run->steps, &StepLine::entropy));
    last_k3.add(mean_of_last(run->steps, &StepLine::k3));
    steps.add(steps_to_goal(*run));
    if (const auto step = run->diverged_at()) effect.diverged.push_back({run->seed, *step});
  }
  effect.final_reward = spread_of(rewards);
  if (gaps.values.size() == rewards.values.size()) effect.gap = spread_of(gaps);
  effect.first_entropy = first_entropy.mean();
  effect.last_entropy = last_entropy.mean();
  effect.last_k3 = last_k3.mean();
  effect.steps_to_goal = steps.mean();
  for (std::size_t i = 0; i < pathways.size(); ++i) effect.codings[i] = coding_effect(group, pathways[i]);
  effect.gradient = gradient_effect(group);
  return effect;
}

bool comes_before(const PlanEffect& a, const PlanEffect& b) {
  if ((a.plan == "bf16") != (b.plan == "bf16")) return a.plan == "bf16";
  return a.final_reward.mean > b.final_reward.mean;
}

}  // namespace

std::vector<PlanEffect> effects_of(std::span<const TrainingRun> runs) {
  std::vector<PlanEffect> effects;
  for (const RunGroup& group : group_runs(runs)) {
    const bool is_ended = std::ranges::all_of(
        group.runs, [](const TrainingRun* run) { return run->summary.has_value() && !run->steps.empty(); });
    if (is_ended) effects.push_back(effect_of(group, runs));
  }
  std::ranges::stable_sort(effects, comes_before);
  return effects;
}

const PlanEffect* find_effect(std::span<const PlanEffect> effects, std::string_view plan) {
  const auto found = std::ranges::find(effects, plan, &PlanEffect::plan);
  return found == effects.end() ? nullptr : &*found;
}

}  // namespace fp4proof::training_report
