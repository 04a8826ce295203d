#include "conformance/training_report/effects_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "conformance/training_report/curves.h"
#include "conformance/training_report/run_groups.h"

namespace fp4proof::training_report {

namespace {

constexpr const char* preface =
    "# What four bits do to reinforcement learning\n\n"
    "Preset `{}`, outlier gain {}, {} steps, seeds {}, {} runs. This page is the output of\n\n"
    "    scripts/rl-results FOLDER\n\n"
    "which trains every named plan and goes on where it was stopped; every number is the same on every backend, so "
    "anyone\ncan make it again. [training.md](training.md) says what is trained and what the columns mean, "
    "[corrections.md](corrections.md) what\nthe plans are.\n\n"
    "![reward over steps](pictures/rl_results.svg)\n\n"
    "(A) arXiv 2605.20402, (B) arXiv 2607.26515, (C) arXiv 2607.24953, (D) arXiv 2608.26581: large models on GSM8K and "
    "other\ntasks, in points of their own metrics. (prototype): this task in plain float before this harness stood. "
    "Ours is a policy of\n87 thousand weights that adds two numbers: it shows directions, not sizes.\n\n";

constexpr const char* rewards_text =
    "## Reward\n\n"
    "Sampled exact match, mean of the last 20 steps: mean over seeds, lowest to highest. Gap: points below bf16 of the "
    "same\nseed. Differences below {} count as noise. Entropy in nats a token, of the first step (the same weights "
    "everywhere) and of the\nlast 20; k3 between rollout and training, last 20.\n\n"
    "| plan | reward | seeds | gap to bf16 | steps to 0.8 | entropy, first | entropy, last | k3, last |\n"
    "|---|---|---|---|---|---|---|---|\n";

constexpr const char* claims_text =
    "\n## Claims\n\n"
    "What the papers and the prototype say, asked of these runs.\n\n"
    "| claim | published | ours | verdict |\n|---|---|---|---|\n";

constexpr const char* pathways_text =
    "\n## Errors of each pathway\n\n"
    "Means over measured steps, tensors and seeds. Deadzone: share of elements. The others are squared errors over "
    "|x|^2; scale\nbias, deadzone and grid are parts of the whole and overlap in one cross term.\n\n"
    "| plan | pathway | deadzone | error | scale bias | deadzone error | grid |\n|---|---|---|---|---|---|---|\n";

constexpr const char* gradients_text =
    "\n## Gradients\n\n"
    "All parameters, against the bfloat16 gradient of the same batch, before clipping. Bias and variance: of plans "
    "that "
    "round\nstochastically, over 4 repeats.\n\n"
    "| plan | cosine | norm ratio | error | bias | variance |\n|---|---|---|---|---|---|\n";

/// Text in which no bar ends the cell.
std::string cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string spread_text(const Spread& spread) {
  return fmt::format("{:.3f} | {:.3f} to {:.3f}", spread.mean, spread.low, spread.high);
}

std::string gap_text(const std::optional<Spread>& gap) { return gap ? fmt::format("{:+.1f}", 100 * gap->mean) : "-"; }

std::string number_text(const std::optional<double>& number) { return number ? fmt::format("{:.4f}", *number) : "-"; }

std::string reward_row(const PlanEffect& e) {
  return fmt::format("| {} | {} | {} | {:.0f} | {:.3f} | {:.3f} | {:.4f} |\n", e.plan, spread_text(e.final_reward),
                     gap_text(e.gap), e.steps_to_goal, e.first_entropy, e.last_entropy, e.last_k3);
}

std::string pathway_rows(const PlanEffect& e) {
  std::string text;
  for (std::size_t i = 0; i < pathways.size(); ++i) {
    const auto& coding = e.codings[i];
    if (!coding) continue;
    text += fmt::format("| {} | {} | {:.3f} | {:.5f} | {:.5f} | {:.5f} | {:.5f} |\n", e.plan, pathways[i].name,
                        coding->deadzone_fraction, coding->relative_error, coding->scale_bias, coding->deadzone,
                        coding->grid);
  }
  return text;
}

std::string gradient_row(const PlanEffect& e) {
  if (!e.gradient) return {};
  return fmt::format("| {} | {:.4f} | {:.4f} | {:.4f} | {} | {} |\n", e.plan, e.gradient->cosine,
                     e.gradient->norm_ratio, e.gradient->error, number_text(e.gradient->bias),
                     number_text(e.gradient->variance));
}

std::string diverged_text(std::span<const PlanEffect> effects) {
  std::string list;
  for (const PlanEffect& effect : effects) {
    for (const Divergence& run : effect.diverged) {
      list += fmt::format("{}{} with seed {} at step {}", list.empty() ? "" : ", ", effect.plan, run.seed, run.step);
    }
  }
  return list.empty() ? "" : fmt::format("\nRuns that diverged, to numbers that are not finite: {}.\n", list);
}

std::string outlier_gain_text(const TrainingRun& run) {
  const auto gain = run.config.find("/model/outlier_gain");
  return gain == run.config.end() ? "unknown" : gain->second;
}

std::string seeds_text(std::span<const TrainingRun> runs) {
  std::set<std::uint64_t> seeds;
  for (const TrainingRun& run : runs) seeds.insert(run.seed);
  return fmt::format("{}", fmt::join(seeds, ", "));
}

}  // namespace

std::string effects_markdown(std::span<const TrainingRun> runs, std::span<const PlanEffect> effects,
                             std::span<const Claim> claims) {
  const TrainingRun& first = runs.front();
  std::string text = fmt::format(fmt::runtime(preface), first.preset, outlier_gain_text(first), first.planned_steps,
                                 seeds_text(runs), runs.size());
  text += fmt::format(fmt::runtime(rewards_text), reward_noise);
  for (const PlanEffect& effect : effects) text += reward_row(effect);
  text += diverged_text(effects);
  text += claims_text;
  for (const Claim& claim : claims) {
    text += fmt::format("| {} | {} | {} | {} |\n", cell(claim.claim), cell(claim.published), cell(claim.ours),
                        text_of(claim.verdict));
  }
  text += pathways_text;
  for (const PlanEffect& effect : effects) text += pathway_rows(effect);
  text += gradients_text;
  for (const PlanEffect& effect : effects) text += gradient_row(effect);
  return text;
}

std::string reward_chart(std::span<const TrainingRun> runs, std::span<const std::string_view> plans) {
  LineChart chart;
  chart.title = "Reward over steps";
  chart.subtitle = "sampled exact match, mean of 10 steps; line: mean over seeds, band: lowest to highest";
  chart.x_label = "step";
  chart.y_label = "reward";
  chart.y_low = 0.3;
  chart.y_step = 0.1;
  chart.has_round_x = true;
  chart.most_points = 10;
  const std::vector<RunGroup> groups = group_runs(runs);
  for (const std::string_view plan : plans) {
    const auto group =
        std::ranges::find_if(groups, [&](const RunGroup& g) { return g.runs.front()->plan_name == plan; });
    if (group != groups.end()) chart.series.push_back(curve_of(*group, of_steps(&StepLine::reward)).series);
  }
  return to_svg(chart);
}

}  // namespace fp4proof::training_report
