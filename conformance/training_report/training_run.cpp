#include "conformance/training_report/training_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "conformance/training/config_json.h"
#include "conformance/training/record_files.h"
#include "conformance/training/records.h"
#include "conformance/training_report/csv_records.h"
#include "conformance/training_report/record_file.h"
#include "conformance/vectors/folder_entries.h"
#include "conformance/vectors/is_absent.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::training_report {

namespace {

using nlohmann::json;
using std::filesystem::path;

using namespace training;  // the names of files and the first lines of tables

constexpr std::array files = {run_file,   steps_file,     summary_file,  trace_file,
                              quant_file, gradients_file, operators_file};

StepLine step_line(CsvLine& line) {
  StepLine step;
  step.step = line.count();
  step.reward = line.fraction();
  line.number();  // loss
  step.entropy = line.number();
  line.number();  // k1
  step.k3 = line.number();
  line.size();  // max_difference
  step.ratio_p99 = line.size();
  line.fraction();     // clip_fraction
  line.finite_size();  // length
  line.fraction();     // live_groups
  line.finite_size();  // noise_sigma
  step.gradient_norm = line.size();
  line.finite_size();  // learning_rate
  line.finite_size();  // seconds
  step.is_finite = line.is_finite();
  const auto rollout = line.fraction_or_nothing();
  const auto training = line.fraction_or_nothing();
  const auto bf16 = line.fraction_or_nothing();
  if (rollout && training && bf16) {
    step.greedy = {*rollout, *training, *bf16};
  } else if (rollout || training || bf16) {
    line.refuse("one greedy accuracy stands without the others");
  }
  return step;
}

QuantLine quant_line(CsvLine& line) {
  QuantLine quant;
  quant.step = line.count();
  quant.product = line.name();
  quant.operand = line.name();
  line.name();  // tensor
  line.name();  // profile
  line.name();  // stack
  const auto elements = static_cast<double>(line.count());
  const auto excluded = static_cast<double>(line.count());
  if (excluded > elements) line.refuse("more elements are excluded than there are");
  quant.elements = elements - excluded;
  quant.deadzone_fraction = line.fraction();
  quant.relative_error = line.finite_size();
  quant.scale_bias = line.finite_size();
  quant.deadzone = line.finite_size();
  quant.grid = line.finite_size();
  line.finite_size();  // saturated
  return quant;
}

/// Nothing for a line of one parameter.
std::optional<GradientLine> gradient_line(CsvLine& line) {
  GradientLine gradient;
  gradient.step = line.count();
  const std::string tensor = line.name();
  gradient.cosine = line.number();
  if (std::abs(gradient.cosine) > 1 + 1e-6) line.refuse("the cosine lies beyond 1");
  gradient.norm_ratio = line.size();
  gradient.error = line.size();
  line.count();  // repeats
  gradient.bias = line.size_or_nothing();
  gradient.variance = line.size_or_nothing();
  if (gradient.bias.has_value() != gradient.variance.has_value()) line.refuse("bias and variance go together");
  if (tensor != all_parameters) return std::nullopt;
  return gradient;
}

OperatorLine operator_line(CsvLine& line) {
  OperatorLine times;
  times.name = line.name();
  line.count();  // calls
  times.seconds = line.finite_size();
  line.fraction();  // share
  return times;
}

/// Every line of an optional file of measured steps; they must not go backwards.
template <class Line>
Result<std::optional<std::vector<Line>>> measured_lines(const path& file, std::string_view header,
                                                        const std::function<std::optional<Line>(CsvLine&)>& read) {
  if (is_absent(file)) return std::optional<std::vector<Line>>();
  std::vector<Line> lines;
  const auto done = read_csv(file, header, [&](CsvLine& cells) {
    const std::optional<Line> line = read(cells);
    if (!line) return;
    if (line->step < (lines.empty() ? 1 : lines.back().step)) cells.refuse("the steps go backwards");
    lines.push_back(*line);
  });
  if (!done) return done.error();
  return std::optional(std::move(lines));
}

Result<void> read_facts(TrainingRun& run) {
  auto facts = JsonRecord::read(run.path / run_file);
  if (!facts) return facts.error();
  facts->expect("/format", run_format);
  run.preset = facts->text("/preset");
  run.plan_name = facts->text("/plan/name");
  run.backend = facts->text("/backend/name");
  run.seed = facts->count("/config/seed");
  run.planned_steps = facts->count("/config/reinforcement/steps");
  const json plan = facts->object("/plan");
  json config = facts->object("/config");
  if (const auto sound = facts->check(); !sound) return sound;
  config.erase("seed");
  run.plan = training::without_words(plan).dump();
  const json members = config.flatten();
  for (const auto& [pointer, value] : members.items()) run.config[pointer] = value.dump();
  return {};
}

Result<void> read_steps(TrainingRun& run) {
  const path file = run.path / steps_file;
  if (is_absent(file)) return {};
  return read_csv(file, steps_header, [&](CsvLine& line) {
    const StepLine step = step_line(line);
    const std::size_t expected = run.steps.size() + 1;
    if (step.step != static_cast<std::int64_t>(expected)) {
      line.refuse(fmt::format("step {} stands where step {} belongs", step.step, expected));
    }
    run.steps.push_back(step);
  });
}

/// A summary is what follows from the other records, where they are there.
Result<void> check_summary(const TrainingRun& run, const json& summary) {
  const auto refuse = [&](std::string_view what) {
    return Error{ErrorKind::corrupt,
                 fmt::format("{} {}; train the run again, or leave it out", quote_path(run.path / summary_file), what)};
  };
  if (run.steps.size() != run.planned_steps) {
    return refuse(
        fmt::format("is there after {} of the {} steps of {}", run.steps.size(), run.planned_steps, run_file));
  }
  if (run.steps.empty() || is_absent(run.path / training::trace_file)) return {};
  const auto records = training::Records::load(run.path, static_cast<std::int64_t>(run.steps.size()));
  if (!records) return records.error();
  const json right = records->summary();
  const auto fits = [&](const char* field) { return summary.value(field, json()) == right.at(field); };
  if (fits("digest") && fits("final_reward") && fits("mean_reward") && fits("steps_to_0.8")) return {};
  return refuse(fmt::format("is not what {} and {} give", training::steps_file, training::trace_file));
}

Result<void> read_summary(TrainingRun& run) {
  const path file = run.path / summary_file;
  if (is_absent(file)) return {};
  auto record = JsonRecord::read(file);
  if (!record) return record.error();
  Summary summary;
  summary.final_reward = record->fraction("/final_reward");
  summary.mean_reward = record->fraction("/mean_reward");
  summary.digest = record->digest("/digest");
  if (record->has("/steps_to_0.8")) summary.steps_to_goal = record->count("/steps_to_0.8");
  const std::uint64_t steps = record->count("/steps");
  if (const auto sound = record->check(); !sound) return sound;
  if (steps != run.steps.size()) {
    return Error{ErrorKind::corrupt, fmt::format("{} speaks of {} steps and steps.csv has {}; train the run again, or "
                                                 "leave it out",
                                                 quote_path(file), steps, run.steps.size())};
  }
  run.summary = summary;
  return check_summary(run, record->object(""));
}

Result<void> read_measures(TrainingRun& run) {
  auto quant = measured_lines<QuantLine>(run.path / quant_file, quant_header, quant_line);
  if (!quant) return quant.error();
  run.quant = *std::move(quant);
  auto gradients = measured_lines<GradientLine>(run.path / gradients_file, gradients_header, gradient_line);
  if (!gradients) return gradients.error();
  run.gradients = *std::move(gradients);
  const path operators = run.path / operators_file;
  if (is_absent(operators)) return {};
  run.operators.emplace();
  return read_csv(operators, operators_header, [&](CsvLine& line) { run.operators->push_back(operator_line(line)); });
}

std::string valid_utf8(const std::string& text) {
  const std::string quoted = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  return json::parse(quoted).get<std::string>();
}

/// The folders of runs in `folder`, which a run does not nest.
Result<void> find_runs(const path& folder, std::set<path>& found) {
  std::error_code failure;
  if (std::filesystem::is_regular_file(folder / run_file, failure)) {
    found.insert(folder);
    return {};
  }
  const auto entries = folder_entries(folder);
  if (!entries) return entries.error();
  for (const std::filesystem::directory_entry& entry : *entries) {
    if (entry.is_symlink(failure) || !entry.is_directory(failure)) continue;
    if (const auto done = find_runs(entry.path(), found); !done) return done;
  }
  return {};
}

}  // namespace

std::span<const char* const> record_files() { return files; }

std::optional<std::int64_t> TrainingRun::diverged_at() const {
  const auto first = std::ranges::find(steps, false, &StepLine::is_finite);
  if (first == steps.end()) return std::nullopt;
  return first->step;
}

Result<TrainingRun> read_training_run(const path& folder) {
  TrainingRun run;
  run.path = folder;
  run.folder = valid_utf8(folder.string());
  for (const auto read : {read_facts, read_steps, read_summary, read_measures}) {
    if (const auto done = read(run); !done) return done.error();
  }
  return run;
}

Result<std::vector<TrainingRun>> read_training_runs(const std::vector<std::string>& folders) {
  std::vector<TrainingRun> runs;
  std::set<path> read;
  for (const std::string& folder : folders) {
    std::set<path> found;
    if (const auto done = find_runs(folder, found); !done) return done.error();
    if (found.empty()) {
      return Error{ErrorKind::usage, fmt::format("{} holds no run: no folder in it has a {}; `fp4proof train --out` "
                                                 "makes one",
                                                 quote_path(folder), run_file)};
    }
    for (const path& run_folder : found) {
      std::error_code ignored;
      if (!read.insert(std::filesystem::weakly_canonical(run_folder, ignored)).second) continue;
      auto run = read_training_run(run_folder);
      if (!run) return run.error();
      if (run->planned_steps != 0) runs.push_back(*std::move(run));
    }
  }
  if (!runs.empty()) return runs;
  return Error{ErrorKind::usage,
               "these folders hold warm starts alone, which have no steps; train on, or finish the sweep"};
}

}  // namespace fp4proof::training_report
