#pragma once
// Numbers of runs over their steps, as lines of charts.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/report/line_chart.h"
#include "conformance/training_report/run_groups.h"

namespace fp4proof::training_report {

/// One number of a run over its steps, finite or not, or why there is none.
struct Curve {
  std::vector<double> steps;
  std::vector<double> values;
  std::string missing;  ///< "" where there is one
};
using CurveOf = std::function<Curve(const TrainingRun&)>;

/// A number of steps.csv; runs that are to have more than 60 steps as the mean of 10 steps up to each.
CurveOf of_steps(double StepLine::*number);
CurveOf of_greedy(double Greedy::*number);
CurveOf of_gradients(double GradientLine::*number);
CurveOf of_random_gradients(std::optional<double> GradientLine::*number);

/// Coded tensors of one kind.
struct Role {
  const char* name;
  bool (*has)(const QuantLine& line);
};
/// Rollout activations, forward activations, weights, gradients.
std::span<const Role> roles();

/// The share of elements in the deadzone, over all tensors of the role.
CurveOf of_deadzone(const Role& role);

/// The mean of a number of all tensors of the role on all measured steps, but for tensors without a finite element;
/// nothing where there are none.
std::optional<double> mean_error(const RunGroup& group, const std::function<bool(const QuantLine&)>& counts,
                                 double QuantLine::*number);

/// Why runs have no lines of that role, "" where they have.
std::string missing_role(const TrainingRun& run, const Role& role);

/// The mean over the runs of a group at each step, with a band from the smallest to the largest where there are
/// several. `missing` of the first run where none has the number. Numbers that are not finite do not count; where that
/// leaves none, the line has a gap.
struct GroupCurve {
  ChartSeries series;
  std::string missing;
  std::optional<double> left_out_at;  ///< the first step with a number that does not count
};
GroupCurve curve_of(const RunGroup& group, const CurveOf& curve);

}  // namespace fp4proof::training_report
