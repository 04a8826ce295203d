#include "conformance/sweep/run_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "conformance/profiles/json_file.h"
#include "conformance/sweep/csv_columns.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::sweep {

namespace {

using nlohmann::json;

constexpr std::size_t last_steps = 20;

Error damaged(const std::filesystem::path& path, std::string_view what) {
  return {ErrorKind::corrupt, fmt::format("{} is no record of this run: {}; remove {} to make the run again",
                                          quote_path(path), what, quote_path(path.parent_path()))};
}

Result<void> check_facts(const std::filesystem::path& path, const SweepRun& run) {
  const Result<json> facts = read_json_file(path.string(), 8);
  if (!facts) return damaged(path, facts.error().message);
  for (const auto& [key, value] : run.facts.items()) {
    if (facts->is_object() && facts->contains(key) && facts->at(key) == value) continue;
    return Error{ErrorKind::usage, fmt::format("{} holds another run: its {} is not that of this sweep; choose another "
                                               "folder for the sweep",
                                               quote_path(path.parent_path()), key)};
  }
  return {};
}

/// A number, or null for what JSON has no number for.
json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

Result<void> add_steps(const std::filesystem::path& folder, json& result) {
  const Result<CsvColumns> table = CsvColumns::read(folder / "steps.csv");
  if (!table) return table.error();
  const auto k3 = table->numbers("k3");
  if (!k3) return k3.error();
  const auto entropy = table->numbers("entropy");
  if (!entropy) return entropy.error();
  if (table->rows() == 0) return {};
  const auto last_mean = [](const std::vector<double>& column) {
    return number(mean_of(std::span(column).last(std::min(last_steps, column.size()))));
  };
  result["final_k3"] = last_mean(*k3);
  result["first_entropy"] = number(entropy->front());
  result["final_entropy"] = last_mean(*entropy);
  return {};
}

Result<void> add_mean(const CsvColumns& table, const char* column, const char* measure, json& result) {
  const auto numbers = table.numbers(column);
  if (!numbers) return numbers.error();
  if (!numbers->empty()) result[measure] = number(mean_of(*numbers));
  return {};
}

/// Over every measured step and tensor.
Result<void> add_rollout_activations(const std::filesystem::path& path, json& result) {
  if (!std::filesystem::exists(path)) return {};
  const Result<CsvColumns> all = CsvColumns::read(path);
  if (!all) return all.error();
  const Result<CsvColumns> rollout = all->where("product", "rollout");
  if (!rollout) return rollout.error();
  const Result<CsvColumns> activations = rollout->where("operand", "activation");
  if (!activations) return activations.error();
  for (const char* column : {"deadzone_fraction", "scale_bias", "deadzone", "grid"}) {
    if (const Result<void> added = add_mean(*activations, column, column, result); !added) return added;
  }
  return {};
}

Result<void> add_gradients(const std::filesystem::path& path, json& result) {
  if (!std::filesystem::exists(path)) return {};
  const Result<CsvColumns> table = CsvColumns::read(path);
  if (!table) return table.error();
  const Result<CsvColumns> whole = table->where("tensor", "all");
  if (!whole) return whole.error();
  return add_mean(*whole, "cosine", "gradient_cosine", result);
}

Result<json> summary_numbers(const std::filesystem::path& path, std::int64_t steps) {
  const Result<json> summary = read_json_file(path.string(), 8);
  if (!summary) return damaged(path, summary.error().message);
  json result;
  for (const char* measure : measures) result[measure] = nullptr;
  try {
    if (summary->at("steps") != steps) return damaged(path, "its number of steps is another");
    result["digest"] = summary->at("digest").get<std::string>();
    for (const char* measure : {"final_reward", "mean_reward"}) result[measure] = summary->at(measure).get<double>();
    if (const json& goal = summary->at("steps_to_0.8"); !goal.is_null()) {
      result["steps_to_0.8"] = goal.get<std::int64_t>();
    }
  } catch (const json::exception& problem) {
    return damaged(path, problem.what());
  }
  return result;
}

}  // namespace

double mean_of(std::span<const double> numbers) {
  double sum = 0;
  for (const double x : numbers) sum += x;
  return sum / static_cast<double>(numbers.size());
}

Result<json> read_run(const std::filesystem::path& folder, const SweepRun& run) {
  const auto facts_path = folder / "run.json";
  const auto summary_path = folder / "summary.json";
  if (!std::filesystem::exists(facts_path)) return json(nullptr);
  if (const Result<void> same = check_facts(facts_path, run); !same) return same.error();
  if (!std::filesystem::exists(summary_path)) return json(nullptr);
  const std::int64_t steps = run.facts.at("config").at("reinforcement").at("steps");
  Result<json> result = summary_numbers(summary_path, steps);
  if (!result || steps == 0) return result;
  if (const auto added = add_steps(folder, *result); !added) return added.error();
  if (const auto added = add_rollout_activations(folder / "quant.csv", *result); !added) return added.error();
  if (const auto added = add_gradients(folder / "gradients.csv", *result); !added) return added.error();
  return result;
}

}  // namespace fp4proof::sweep
