#pragma once
// Adam over all parameters (rules T44 and T45).

#include "conformance/training/config.h"
#include "conformance/training/parameters.h"

namespace fp4proof::training {

struct OptimizerStep {
  double gradient_norm = 0;  ///< before clipping
  float learning_rate = 0;
};

class Optimizer {
 public:
  Optimizer(Operators& operators, const AdamSettings& settings, Parameters& parameters);

  /// Update number `step`, counted from 1.
  OptimizerStep update(std::int64_t step);

 private:
  double gradient_norm();

  Operators* operators_;
  AdamSettings settings_;
  Parameters* parameters_;
  Memory<double> squares_;  // one a parameter
};

/// Moments as at the start of a run.
void clear_moments(Operators& operators, Parameters& parameters);

}  // namespace fp4proof::training
