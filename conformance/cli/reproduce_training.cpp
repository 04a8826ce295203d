// fp4proof reproduce training

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "conformance/cli/reproduce_figures.h"
#include "conformance/cli/run_files.h"
#include "conformance/cli/table.h"
#include "conformance/cli/version.h"
#include "conformance/training_report/claims.h"
#include "conformance/training_report/effects_page.h"
#include "conformance/vectors/atomic_file.h"

namespace fp4proof::cli {

namespace {

using namespace training_report;

/// The plans of the chart: what the order of rewards speaks of.
constexpr std::array<std::string_view, 7> charted = {
    "bf16", "hif4", "hif4+resq", "mxfp4", "mxfp4+resq", "rollout-mxfp4/train-bf16", "rollout-hif4/train-bf16"};

nlohmann::json to_json(const PlanEffect& effect) {
  const Spread& reward = effect.final_reward;
  nlohmann::json diverged = nlohmann::json::array();
  for (const Divergence& run : effect.diverged) diverged.push_back({{"seed", run.seed}, {"step", run.step}});
  return {{"plan", effect.plan},
          {"seeds", effect.seeds},
          {"final_reward", {{"mean", reward.mean}, {"low", reward.low}, {"high", reward.high}}},
          {"gap", effect.gap ? nlohmann::json(effect.gap->mean) : nlohmann::json(nullptr)},
          {"first_entropy", effect.first_entropy},
          {"last_entropy", effect.last_entropy},
          {"last_k3", effect.last_k3},
          {"diverged", diverged}};
}

nlohmann::json to_json(const Claim& claim) {
  return {{"claim", claim.claim},
          {"published", claim.published},
          {"ours", claim.ours},
          {"verdict", text_of(claim.verdict)}};
}

nlohmann::json json_of(std::span<const PlanEffect> effects, std::span<const Claim> claims) {
  nlohmann::json plans = nlohmann::json::array();
  for (const PlanEffect& effect : effects) plans.push_back(to_json(effect));
  nlohmann::json asked = nlohmann::json::array();
  for (const Claim& claim : claims) asked.push_back(to_json(claim));
  return {
      {"format", "fp4proof-training-effects/1"}, {"tool_version", tool_version}, {"plans", plans}, {"claims", asked}};
}

void print_tables(Session& session, std::span<const PlanEffect> effects, std::span<const Claim> claims) {
  Table plans("lrrrrr");
  plans.add({"plan", "reward", "lowest", "highest", "entropy", "k3"});
  for (const PlanEffect& e : effects) {
    const Spread& reward = e.final_reward;
    plans.add({e.plan, fmt::format("{:.3f}", reward.mean), fmt::format("{:.3f}", reward.low),
               fmt::format("{:.3f}", reward.high), fmt::format("{:.3f}", e.last_entropy),
               fmt::format("{:.4f}", e.last_k3)});
  }
  session.print(plans.text());
  session.print("\n");
  for (const PlanEffect& e : effects) {
    for (const Divergence& run : e.diverged) {
      session.note(fmt::format("{} with seed {} diverged at step {}", e.plan, run.seed, run.step));
    }
  }
  Table asked("llll");
  asked.add({"claim", "published", "ours", "verdict"});
  for (const Claim& claim : claims) {
    asked.add({claim.claim, claim.published, claim.ours, std::string(text_of(claim.verdict))});
  }
  session.print(asked.text());
}

/// One preset and configuration: what differs in anything but plan and seed has no common answer.
Result<void> check_alike(std::span<const TrainingRun> runs) {
  for (const TrainingRun& run : runs) {
    if (run.preset == runs.front().preset && run.config == runs.front().config) continue;
    return Error{ErrorKind::usage,
                 fmt::format("{} and {} differ in more than plan and seed; name runs of one preset and "
                             "configuration",
                             runs.front().folder, run.folder)};
  }
  return {};
}

}  // namespace

Result<ExitCode> reproduce_training(const ReproduceOptions& options, Session& session) {
  if (options.runs.empty()) {
    return Error{ErrorKind::usage, "the figure training needs --runs DIR, made by `fp4proof sweep --out DIR`"};
  }
  const auto runs = read_training_runs(options.runs);
  if (!runs) return runs.error();
  if (const auto alike = check_alike(*runs); !alike) return alike.error();
  const std::vector<PlanEffect> effects = effects_of(*runs);
  if (effects.empty()) return Error{ErrorKind::usage, "no run has ended; finish the sweep"};
  for (const TrainingRun& run : *runs) {
    for (const std::string& output : {options.markdown, options.svg}) {
      if (const auto apart = refuse_run_file(run.path, output); !apart) return apart.error();
    }
  }
  const std::vector<Claim> claims = claims_of(effects);
  const auto write = [](const std::string& path, const std::string& text) -> Result<void> {
    return path.empty() ? Result<void>() : write_file(path, bytes_of(text));
  };
  if (const auto done = write(options.markdown, effects_markdown(*runs, effects, claims)); !done) return done.error();
  if (const auto done = write(options.svg, reward_chart(*runs, charted)); !done) return done.error();
  if (options.json) {
    session.print_json(json_of(effects, claims));
  } else {
    print_tables(session, effects, claims);
  }
  return ExitCode::conformant;
}

}  // namespace fp4proof::cli
