#include "conformance/training/optimizer.h"

#include <algorithm>

#include "formats/strict_math.h"

namespace fp4proof::training {

namespace {

/// base^exponent in binary64, one product at a time.
double power(double base, std::int64_t exponent) {
  double result = 1.0;
  for (std::int64_t i = 0; i < exponent; ++i) result *= base;
  return result;
}

}  // namespace

Optimizer::Optimizer(Operators& operators, const AdamSettings& settings, Parameters& parameters)
    : operators_(&operators),
      settings_(settings),
      parameters_(&parameters),
      squares_(operators.make<double>(parameters.all.size())) {}

/// The sums of the parameters are added in their order.
double Optimizer::gradient_norm() {
  for (std::size_t i = 0; i < parameters_->all.size(); ++i) {
    const Parameter& p = (*parameters_)[i];
    operators_->at("optimizer", p.name);
    operators_->call(&fp4proof_training::sum_squares, "sum_squares",
                     {0, p.count(), p.gradient.get(), squares_.get() + i});
  }
  double sum = 0.0;
  for (const double square : operators_->download(squares_)) sum += square;
  return strict::sqrt_double(sum);
}

OptimizerStep Optimizer::update(std::int64_t step) {
  OptimizerStep result;
  result.gradient_norm = gradient_norm();
  const bool warm = step >= settings_.warm_up;
  result.learning_rate = warm ? settings_.learning_rate
                              : static_cast<float>(static_cast<double>(settings_.learning_rate) *
                                                   static_cast<double>(step) / static_cast<double>(settings_.warm_up));
  const bool clip = result.gradient_norm > settings_.clip_norm;
  fp4proof_adam_call call{};
  call.learning_rate = result.learning_rate;
  call.beta1 = settings_.beta1;
  call.beta2 = settings_.beta2;
  call.epsilon = settings_.epsilon;
  call.correction1 = static_cast<float>(1.0 - power(settings_.beta1, step));
  call.correction2 = static_cast<float>(1.0 - power(settings_.beta2, step));
  call.gradient_scale = clip ? static_cast<float>(settings_.clip_norm / result.gradient_norm) : 1.0F;
  for (Parameter& p : parameters_->all) {
    call.count = p.count();
    call.gradient = p.gradient.get();
    call.first_moment = p.first_moment.get();
    call.second_moment = p.second_moment.get();
    call.weight = p.weight.get();
    operators_->at("optimizer", p.name);
    operators_->call(&fp4proof_training::adam, "adam", call);
  }
  return result;
}

void clear_moments(Operators& operators, Parameters& parameters) {
  for (Parameter& p : parameters.all) {
    const std::vector<float> zeros(static_cast<std::size_t>(p.count()), 0.0F);
    operators.copy_in<float>(p.first_moment, zeros);
    operators.copy_in<float>(p.second_moment, zeros);
  }
}

}  // namespace fp4proof::training
