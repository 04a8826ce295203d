#pragma once
// docs/rl_results.md and its chart.

#include <span>
#include <string>

#include "conformance/training_report/claims.h"
#include "conformance/training_report/effects.h"
#include "conformance/training_report/training_run.h"

namespace fp4proof::training_report {

/// The page as Markdown; `runs` are those that the effects came from.
std::string effects_markdown(std::span<const TrainingRun> runs, std::span<const PlanEffect> effects,
                             std::span<const Claim> claims);

/// Reward over steps of some plans, as SVG: mean over seeds with a band from the lowest to the highest.
std::string reward_chart(std::span<const TrainingRun> runs, std::span<const std::string_view> plans);

}  // namespace fp4proof::training_report
