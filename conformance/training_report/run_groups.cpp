#include "conformance/training_report/run_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "conformance/training_report/numbers.h"

namespace fp4proof::training_report {

namespace {

using Runs = std::vector<const TrainingRun*>;

constexpr std::size_t last_steps = 20;

std::string digest_of(const TrainingRun& run) { return run.summary ? run.summary->digest : run.folder; }

std::set<std::string> digests_of(const Runs& runs) {
  std::set<std::string> digests;
  for (const TrainingRun* run : runs) digests.insert(digest_of(*run));
  return digests;
}

std::map<std::uint64_t, Runs> by_seed(const Runs& runs) {
  std::map<std::uint64_t, Runs> result;
  for (const TrainingRun* run : runs) result[run->seed].push_back(run);
  return result;
}

bool is_ended(const TrainingRun* run) { return run->summary.has_value(); }

Runs ended(const Runs& runs) {
  Runs result;
  std::ranges::copy_if(runs, std::back_inserter(result), is_ended);
  return result;
}

/// One run for each seed and digest; of runs that have not ended only those without a finished one beside them.
Runs distinct(const Runs& runs) {
  Runs result;
  for (const auto& [seed, same] : by_seed(runs)) {
    const Runs whole = ended(same);
    std::set<std::string> seen;
    for (const TrainingRun* run : whole.empty() ? same : whole) {
      if (seen.insert(digest_of(*run)).second) result.push_back(run);
    }
  }
  return result;
}

/// The members of the configurations of a preset that are not the same in all its runs.
std::set<std::string> varying_members(std::span<const TrainingRun> runs, const std::string& preset) {
  std::map<std::string, std::set<std::string>> values;
  for (const TrainingRun& run : runs) {
    if (run.preset != preset) continue;
    for (const auto& [pointer, value] : run.config) values[pointer].insert(value);
  }
  std::set<std::string> varying;
  for (const auto& [pointer, seen] : values) {
    if (seen.size() > 1) varying.insert(pointer);
  }
  return varying;
}

std::string name_of_group(const TrainingRun& run, const std::set<std::string>& varying) {
  std::string name = run.plan_name;
  for (const std::string& pointer : varying) {
    const auto found = run.config.find(pointer);
    if (found == run.config.end()) continue;
    std::string_view value = found->second;
    if (value.starts_with('"')) value = value.substr(1, value.size() - 2);
    name += fmt::format(", {} {}", pointer.substr(pointer.rfind('/') + 1), value);
  }
  return name;
}

/// Equal names get numbers.
void number_equal_names(std::vector<RunGroup>& groups) {
  std::map<std::pair<std::string, std::string>, int> seen;
  for (RunGroup& group : groups) {
    const int number = ++seen[{group.preset, group.name}];
    if (number > 1) group.name += fmt::format(" ({})", number);
  }
}

/// The groups of runs of one identity.
std::vector<RunGroup> divided(const Runs& runs, const std::string& name) {
  const std::string& preset = runs.front()->preset;
  const bool is_one = std::ranges::all_of(by_seed(ended(runs)),
                                          [](const auto& of_seed) { return digests_of(of_seed.second).size() == 1; });
  if (is_one) return {{preset, name, distinct(runs)}};
  std::map<std::string, Runs> by_backend;
  for (const TrainingRun* run : runs) by_backend[run->backend].push_back(run);
  std::vector<RunGroup> groups;
  for (const auto& [backend, of_backend] : by_backend) {
    groups.push_back({preset, fmt::format("{} on {}", name, backend), distinct(of_backend)});
  }
  return groups;
}

}  // namespace

std::string identity_of(const TrainingRun& run) {
  return nlohmann::json({run.preset, run.is_bf16() ? 0 : 1, run.plan_name, run.config, run.plan}).dump();
}

std::vector<RunGroup> group_runs(std::span<const TrainingRun> runs) {
  std::vector<RunGroup> groups;
  std::map<std::string, std::set<std::string>> varying;
  for (const TrainingRun& run : runs) {
    if (!varying.contains(run.preset)) varying[run.preset] = varying_members(runs, run.preset);
  }
  std::map<std::string, Runs> by_identity;
  for (const TrainingRun& run : runs) by_identity[identity_of(run)].push_back(&run);
  for (const auto& [identity, equal] : by_identity) {
    const TrainingRun& first = *equal.front();
    for (RunGroup& group : divided(equal, name_of_group(first, varying[first.preset]))) {
      groups.push_back(std::move(group));
    }
  }
  number_equal_names(groups);
  return groups;
}

const TrainingRun* bf16_of(const TrainingRun& run, std::span<const TrainingRun> runs) {
  const TrainingRun* found = nullptr;
  for (const TrainingRun& other : runs) {
    const bool fits = other.is_bf16() && other.summary && other.preset == run.preset && other.seed == run.seed &&
                      other.config == run.config;
    if (fits && (found == nullptr || other.backend == run.backend)) found = &other;
  }
  return found;
}

double mean_of_last(const std::vector<StepLine>& steps, double StepLine::*number) {
  Numbers numbers;
  for (std::size_t i = steps.size() - std::min(last_steps, steps.size()); i < steps.size(); ++i) {
    numbers.add(steps[i].*number);
  }
  return numbers.mean();
}

std::optional<double> final_reward(const TrainingRun& run) {
  if (run.summary) return run.summary->final_reward;
  if (run.steps.empty()) return std::nullopt;
  return mean_of_last(run.steps, &StepLine::reward);
}

std::optional<double> final_k3(const TrainingRun& run) {
  if (run.steps.empty()) return std::nullopt;
  return finite_or_nothing(mean_of_last(run.steps, &StepLine::k3));
}

}  // namespace fp4proof::training_report
