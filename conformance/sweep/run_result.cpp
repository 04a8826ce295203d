#include "conformance/sweep/run_result.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/profiles/json_file.h"
#include "conformance/training/record_files.h"
#include "conformance/training_report/curves.h"
#include "conformance/training_report/numbers.h"
#include "conformance/training_report/run_groups.h"
#include "conformance/vectors/is_absent.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::sweep {

namespace {

using nlohmann::json;

Error damaged(const std::filesystem::path& folder, std::string_view what) {
  return {ErrorKind::corrupt,
          fmt::format("{} is no record of this run: {}; remove it to make the run again", quote_path(folder), what)};
}

Error unreadable(const std::filesystem::path& folder, const Error& why) {
  return why.kind == ErrorKind::io ? why : damaged(folder, why.message);
}

Result<void> check_facts(const std::filesystem::path& path, const SweepRun& run) {
  const Result<json> facts = read_json_file(path.string(), 8);
  if (!facts) return unreadable(path.parent_path(), facts.error());
  for (const auto& [key, value] : run.facts.items()) {
    if (facts->is_object() && facts->contains(key) && facts->at(key) == value) continue;
    return Error{ErrorKind::usage, fmt::format("{} holds another run: its {} is not that of this sweep; choose another "
                                               "folder for the sweep",
                                               quote_path(path.parent_path()), key)};
  }
  const json::json_pointer library("/backend/library");
  const bool by_reference = facts->contains(library) && facts->at(library) == "reference";
  if (by_reference != run.on_reference) {
    return Error{ErrorKind::usage, fmt::format("{} holds a run of another backend; choose another folder for the sweep",
                                               quote_path(path.parent_path()))};
  }
  return {};
}

using training_report::TrainingRun;

json or_null(const std::optional<double>& number) { return number ? json(*number) : json(nullptr); }

/// JSON has no NaN and no infinity.
json finite_or_null(double number) { return or_null(training_report::finite_or_nothing(number)); }

void add_steps(const TrainingRun& run, json& result) {
  using training_report::mean_of_last;
  using training_report::StepLine;
  result["final_k3"] = finite_or_null(mean_of_last(run.steps, &StepLine::k3));
  result["first_entropy"] = finite_or_null(run.steps.front().entropy);
  result["final_entropy"] = finite_or_null(mean_of_last(run.steps, &StepLine::entropy));
}

/// Over every measured step and tensor.
void add_rollout_activations(const TrainingRun& run, json& result) {
  using training_report::QuantLine;
  const training_report::RunGroup alone{{}, {}, {&run}};
  const training_report::Role& activations = training_report::roles().front();
  const std::pair<const char*, double QuantLine::*> columns[] = {{"deadzone_fraction", &QuantLine::deadzone_fraction},
                                                                 {"scale_bias", &QuantLine::scale_bias},
                                                                 {"deadzone", &QuantLine::deadzone},
                                                                 {"grid", &QuantLine::grid}};
  for (const auto& [name, number] : columns) {
    result[name] = or_null(training_report::mean_error(alone, activations.has, number));
  }
}

json numbers_of(const TrainingRun& run) {
  json result;
  for (const char* measure : measures) result[measure] = nullptr;
  result["digest"] = run.summary->digest;
  const auto diverged_at = run.diverged_at();
  result["diverged_at"] = diverged_at ? json(*diverged_at) : json(nullptr);
  result["final_reward"] = run.summary->final_reward;
  result["mean_reward"] = run.summary->mean_reward;
  if (run.summary->steps_to_goal) result["steps_to_0.8"] = *run.summary->steps_to_goal;
  if (!run.steps.empty()) add_steps(run, result);
  add_rollout_activations(run, result);
  training_report::Numbers cosines;
  for (const auto& line : run.gradients.value_or(std::vector<training_report::GradientLine>()))
    cosines.add(line.cosine);
  if (!cosines.values.empty()) result["gradient_cosine"] = finite_or_null(cosines.mean());
  return result;
}

}  // namespace

Result<json> read_run(const std::filesystem::path& folder, const SweepRun& run) {
  const auto facts_path = folder / training::run_file;
  if (is_absent(facts_path)) return json(nullptr);
  if (const Result<void> same = check_facts(facts_path, run); !same) return same.error();
  if (is_absent(folder / training::summary_file)) return json(nullptr);
  const auto read = training_report::read_training_run(folder);
  if (!read) return unreadable(folder, read.error());
  if (read->steps.size() != read->planned_steps) return damaged(folder, "its number of steps is another");
  return numbers_of(*read);
}

}  // namespace fp4proof::sweep
