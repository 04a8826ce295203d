#include "conformance/sweep/outcome.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>

#include "conformance/sweep/run_result.h"
#include "conformance/training_report/numbers.h"

namespace fp4proof::sweep {

namespace {

using nlohmann::json;
using training_report::mean_of;

constexpr std::string_view reference_plan = "bf16";
constexpr double points = 100;

/// The numbers of one measure, or none where one of them is missing.
std::vector<double> column_of(const std::vector<const Outcome*>& runs, const char* measure) {
  std::vector<double> column;
  for (const Outcome* outcome : runs) {
    if (!outcome->result.at(measure).is_number()) return {};
    column.push_back(outcome->result.at(measure));
  }
  return column;
}

json mean_or_null(const std::vector<double>& column) { return column.empty() ? json(nullptr) : json(mean_of(column)); }

json deviation_or_null(const std::vector<double>& column) {
  if (column.size() < 2) return nullptr;
  const double mean = mean_of(column);
  double sum = 0;
  for (const double x : column) sum += (x - mean) * (x - mean);
  return std::sqrt(sum / static_cast<double>(column.size() - 1));
}

/// Over the seeds that both plans have finished.
json gap_or_null(const std::vector<const Outcome*>& runs, const std::map<std::uint64_t, double>& reference) {
  std::vector<double> gaps;
  for (const Outcome* outcome : runs) {
    const auto other = reference.find(outcome->run.seed);
    if (other == reference.end()) continue;
    gaps.push_back(points * (other->second - outcome->result.at("final_reward").get<double>()));
  }
  return mean_or_null(gaps);
}

json entry_of(const Outcome& outcome) {
  json entry = {{"index", outcome.run.index},   {"seed", outcome.run.seed},        {"plan", outcome.run.plan},
                {"folder", outcome.run.folder}, {"state", name_of(outcome.state)}, {"digest", nullptr},
                {"diverged_at", nullptr}};
  for (const char* measure : measures) entry[measure] = nullptr;
  if (outcome.state == RunState::done) entry.update(outcome.result);
  if (outcome.state == RunState::failed) entry["failure"] = outcome.failure;
  return entry;
}

}  // namespace

json summary_of(const Sweep& sweep, std::span<const Outcome> outcomes) {
  std::map<std::string, std::vector<const Outcome*>> done;
  std::map<std::string, std::size_t> runs;
  std::map<std::uint64_t, double> reference;
  for (const Outcome& outcome : outcomes) {
    ++runs[outcome.run.plan];
    if (outcome.state != RunState::done) continue;
    done[outcome.run.plan].push_back(&outcome);
    if (outcome.run.plan == reference_plan) reference[outcome.run.seed] = outcome.result.at("final_reward");
  }
  json summary = json::array();
  for (const json& plan : sweep.plans) {
    const std::string name = plan.at("name");
    if (!runs.contains(name)) continue;  // of another shard
    const auto diverged = std::count_if(done[name].begin(), done[name].end(), [](const Outcome* outcome) {
      return outcome->result.at("diverged_at").is_number();
    });
    json line = {{"plan", name}, {"runs", runs[name]}, {"done", done[name].size()}, {"diverged", diverged}};
    for (const char* measure : measures) line[measure] = mean_or_null(column_of(done[name], measure));
    line.erase("steps_to_0.8");
    line["spread"] = deviation_or_null(column_of(done[name], "final_reward"));
    line["gap"] = gap_or_null(done[name], reference);
    summary.push_back(std::move(line));
  }
  return summary;
}

json sweep_document(const Sweep& sweep, const std::string& shard, std::span<const Outcome> outcomes) {
  json document = to_json(sweep);
  document["shard"] = shard;
  document["runs"] = json::array();
  for (const Outcome& outcome : outcomes) document["runs"].push_back(entry_of(outcome));
  document["summary"] = summary_of(sweep, outcomes);
  return document;
}

std::string sweep_csv(std::span<const Outcome> outcomes) {
  std::string text = "index,seed,plan,folder,state,digest,diverged_at";
  for (const char* measure : measures) text += fmt::format(",{}", measure);
  text += "\n";
  for (const Outcome& outcome : outcomes) {
    const SweepRun& run = outcome.run;
    const bool done = outcome.state == RunState::done;
    text += fmt::format("{},{},{},{},{},{}", run.index, run.seed, run.plan, run.folder, name_of(outcome.state),
                        done ? outcome.result.at("digest").get<std::string>() : "");
    const auto add = [&](const char* key) {
      text += ",";
      if (done && !outcome.result.at(key).is_null()) text += outcome.result.at(key).dump();
    };
    add("diverged_at");
    for (const char* measure : measures) add(measure);
    text += "\n";
  }
  return text;
}

}  // namespace fp4proof::sweep
