#include "conformance/training_report/curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "conformance/training_report/numbers.h"

namespace fp4proof::training_report {

namespace {

constexpr std::uint64_t smoothed_from = 60;
constexpr std::size_t window = 10;

constexpr std::array<Role, 4> all_roles = {{
    {"rollout activations", [](const QuantLine& l) { return l.product == "rollout" && l.operand == "activation"; }},
    {"forward activations", [](const QuantLine& l) { return l.product == "forward" && l.operand == "activation"; }},
    {"weights", [](const QuantLine& l) { return l.operand == "weight"; }},
    {"gradients", [](const QuantLine& l) { return l.operand == "gradient"; }},
}};

std::vector<double> smoothed(const std::vector<double>& values) {
  std::vector<double> means;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t first = i + 1 < window ? 0 : i + 1 - window;
    means.push_back(mean_of(std::span(values).subspan(first, i + 1 - first)));
  }
  return means;
}

std::string absent(const char* file) { return fmt::format("Without {}", file); }

void add(Curve& curve, std::int64_t step, double value) {
  curve.steps.push_back(static_cast<double>(step));
  curve.values.push_back(value);
}

}  // namespace

CurveOf of_steps(double StepLine::*number) {
  return [number](const TrainingRun& run) {
    Curve curve;
    if (run.steps.empty()) curve.missing = "Stopped before the first step was saved";
    for (const StepLine& line : run.steps) add(curve, line.step, line.*number);
    if (run.planned_steps > smoothed_from) curve.values = smoothed(curve.values);
    return curve;
  };
}

CurveOf of_greedy(double Greedy::*number) {
  return [number](const TrainingRun& run) {
    Curve curve;
    for (const StepLine& line : run.steps) {
      if (line.greedy) add(curve, line.step, (*line.greedy).*number);
    }
    if (curve.steps.empty()) curve.missing = "Not evaluated yet";
    return curve;
  };
}

CurveOf of_gradients(double GradientLine::*number) {
  return [number](const TrainingRun& run) {
    Curve curve;
    if (!run.gradients) curve.missing = absent("gradients.csv");
    for (const GradientLine& line : run.gradients.value_or(std::vector<GradientLine>())) {
      add(curve, line.step, line.*number);
    }
    if (curve.steps.empty() && curve.missing.empty()) curve.missing = "Not measured yet";
    return curve;
  };
}

CurveOf of_random_gradients(std::optional<double> GradientLine::*number) {
  return [number](const TrainingRun& run) {
    Curve curve;
    if (!run.gradients) curve.missing = absent("gradients.csv");
    for (const GradientLine& line : run.gradients.value_or(std::vector<GradientLine>())) {
      if (line.*number) add(curve, line.step, *(line.*number));
    }
    if (curve.steps.empty() && curve.missing.empty()) curve.missing = "Rounds nothing at random in training";
    return curve;
  };
}

std::span<const Role> roles() { return all_roles; }

std::string missing_role(const TrainingRun& run, const Role& role) {
  if (!run.quant) return absent("quant.csv");
  if (run.quant->empty()) return "Codes nothing";
  return std::ranges::any_of(*run.quant, role.has) ? std::string() : fmt::format("Codes no {}", role.name);
}

CurveOf of_deadzone(const Role& role) {
  return [role](const TrainingRun& run) {
    Curve curve;
    curve.missing = missing_role(run, role);
    if (!curve.missing.empty()) return curve;
    struct Sum {
      double elements = 0;
      double inside = 0;
    };
    std::map<std::int64_t, Sum> sums;
    for (const QuantLine& line : *run.quant) {
      if (!role.has(line)) continue;
      sums[line.step].elements += line.elements;
      sums[line.step].inside += line.elements * line.deadzone_fraction;
    }
    for (const auto& [step, sum] : sums) add(curve, step, sum.inside / sum.elements);  // NaN where none is finite
    return curve;
  };
}

std::optional<double> mean_error(const RunGroup& group, const std::function<bool(const QuantLine&)>& counts,
                                 double QuantLine::*number) {
  Numbers numbers;
  for (const TrainingRun* run : group.runs) {
    if (!run->quant) continue;
    for (const QuantLine& line : *run->quant) {
      if (counts(line) && line.elements > 0) numbers.add(line.*number);
    }
  }
  return numbers.mean_or_nothing();
}

GroupCurve curve_of(const RunGroup& group, const CurveOf& curve) {
  GroupCurve result;
  result.series.name = group.name;
  std::map<double, Numbers> values;
  for (const TrainingRun* run : group.runs) {
    const Curve one = curve(*run);
    if (result.missing.empty()) result.missing = one.missing;
    for (std::size_t i = 0; i < one.steps.size(); ++i) {
      const double step = one.steps[i];
      values[step].add(finite_or_nothing(one.values[i]));
      if (!std::isfinite(one.values[i])) result.left_out_at = std::min(step, result.left_out_at.value_or(step));
    }
  }
  if (!values.empty()) result.missing.clear();
  const double gap = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [step, at_step] : values) {
    const bool is_gap = at_step.values.empty();
    result.series.x.push_back(step);
    result.series.y.push_back(is_gap ? gap : at_step.mean());
    if (group.runs.size() == 1) continue;
    result.series.low.push_back(is_gap ? gap : at_step.low());
    result.series.high.push_back(is_gap ? gap : at_step.high());
  }
  return result;
}

}  // namespace fp4proof::training_report
