#include "conformance/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>

#include "conformance/corrections/plan_json.h"
#include "conformance/profiles/json_fields.h"

namespace fp4proof::sweep {

namespace {

using nlohmann::json;

constexpr const char* warm_start_plan = "bf16";

/// Names of plans have no @ (check_name_form()).
std::string folder_of(std::uint64_t seed, std::string plan) {
  std::replace(plan.begin(), plan.end(), '/', '@');
  return fmt::format("{}-{}", seed, plan);
}

SweepRun run_of(const Sweep& sweep, std::uint64_t seed, const json& plan) {
  const std::string name = plan.at("name");
  json facts = sweep.settings;
  for (const char* elsewhere : {"backend", "measure_every"})
    facts.erase(elsewhere);  // other machines have it elsewhere
  facts["config"]["seed"] = seed;
  facts["plan"] = plan;
  const bool on_reference = sweep.settings.at("backend") == "reference";
  return {0, seed, name, folder_of(seed, name), std::move(facts), on_reference};
}

Result<void> check_plans(const json& plans, const std::string& label) {
  for (const json& plan : plans) {
    const Result<void> form = check_name_form(plan.at("name").get<std::string>(), label);
    if (!form) return Error{ErrorKind::corrupt, form.error().message};
  }
  return {};
}

}  // namespace

std::vector<SweepRun> runs_of(const Sweep& sweep) {
  std::vector<SweepRun> runs;
  for (const std::uint64_t seed : sweep.seeds) {
    for (const json& plan : sweep.plans) {
      runs.push_back(run_of(sweep, seed, plan));
      runs.back().index = runs.size();
    }
  }
  return runs;
}

SweepRun warm_start_of(const Sweep& sweep, std::uint64_t seed) {
  SweepRun run = run_of(sweep, seed, plan_to_json(*find_precision_plan(warm_start_plan)));
  run.folder = fmt::format("warm-start-{}", seed);
  run.facts["config"]["reinforcement"]["steps"] = 0;
  return run;
}

json to_json(const Sweep& sweep) {
  return {{"format", sweep_format}, {"settings", sweep.settings}, {"seeds", sweep.seeds}, {"plans", sweep.plans}};
}

Result<Sweep> sweep_from_json(const json& value, const std::string& label) {
  const auto damaged = [&](const char* what) {
    return Error{ErrorKind::corrupt, fmt::format("{} is no record of a sweep: {}", label, what)};
  };
  Sweep sweep;
  try {
    if (value.at("format") != sweep_format) return damaged("its format is another");
    sweep.settings = value.at("settings");
    for (const json& seed : value.at("seeds")) {
      if (!seed.is_number_unsigned()) return damaged("a seed is no number from 0 up");
      sweep.seeds.push_back(seed);
    }
    sweep.plans = value.at("plans").get<json::array_t>();
    if (sweep.steps() < 1 || sweep.seeds.empty() || sweep.plans.empty()) return damaged("it has no run");
    if (sweep.plans.size() > most_runs / sweep.seeds.size()) return damaged("it has too many runs");
    if (const Result<void> sound = check_plans(sweep.plans, label); !sound) return sound.error();
  } catch (const json::exception& problem) {
    return damaged(problem.what());
  }
  return sweep;
}

}  // namespace fp4proof::sweep
