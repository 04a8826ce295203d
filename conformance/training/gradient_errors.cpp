#include "conformance/training/gradient_errors.h"

#include "conformance/training/record_files.h"
#include "formats/strict_math.h"

namespace fp4proof::training {

namespace {

/// Sums over elements of g, the bfloat16 gradient g0 and, over repeats, their mean and spread.
struct Sums {
  double gg = 0, g0g0 = 0, gg0 = 0, difference = 0, bias = 0, variance = 0;

  void add(const Sums& other) {
    gg += other.gg;
    g0g0 += other.g0g0;
    gg0 += other.gg0;
    difference += other.difference;
    bias += other.bias;
    variance += other.variance;
  }
};

double root(double square) { return strict::sqrt_double(square); }

double ratio(double a, double b) { return b == 0 ? 0.0 : a / b; }

Sums sums_of(std::span<const float> g, std::span<const float> g0) {
  Sums sums;
  for (std::size_t i = 0; i < g.size(); ++i) {
    const double a = g[i];
    const double b = g0[i];
    sums.gg += a * a;
    sums.g0g0 += b * b;
    sums.gg0 += a * b;
    sums.difference += (a - b) * (a - b);
  }
  return sums;
}

/// Adds what repeats of one parameter's gradient tell.
void add_repeats(Sums& sums, const std::vector<std::span<const float>>& repeats, std::span<const float> g0) {
  const auto count = static_cast<double>(repeats.size());
  for (std::size_t i = 0; i < g0.size(); ++i) {
    double mean = 0;
    for (const auto& g : repeats) mean += double{g[i]};
    mean /= count;
    sums.bias += (mean - double{g0[i]}) * (mean - double{g0[i]});
    for (const auto& g : repeats) sums.variance += (double{g[i]} - mean) * (double{g[i]} - mean) / count;
  }
}

GradientError error_of(const std::string& tensor, const Sums& sums, std::int64_t repeats) {
  return {tensor,
          ratio(sums.gg0, root(sums.gg) * root(sums.g0g0)),
          ratio(root(sums.gg), root(sums.g0g0)),
          ratio(root(sums.difference), root(sums.g0g0)),
          repeats,
          ratio(root(sums.bias), root(sums.g0g0)),
          ratio(sums.variance, sums.g0g0)};
}

}  // namespace

GradientErrors::GradientErrors(Operators& operators, const ModelShape& shape, Task task, std::int64_t sequences,
                               const PlanCodings& plan, const PlanCodings& bf16, Parameters& parameters)
    : operators_(&operators),
      parameters_(&parameters),
      random_(plan.rounds_at_random()),
      plan_(operators, shape, plan, parameters),
      bf16_(operators, shape, bf16, parameters),
      teacher_(operators, shape, task, sequences) {}

GradientErrors::Gradient GradientErrors::download() const {
  Gradient gradient;
  for (const Parameter& p : parameters_->all) gradient.push_back(operators_->download(p.gradient));
  return gradient;
}

void GradientErrors::upload(const Gradient& gradient) {
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    operators_->copy_in<float>((*parameters_)[i].gradient, gradient[i]);
  }
}

GradientErrors::Gradient GradientErrors::gradient_of(Model& model, std::span<const std::int32_t> tokens,
                                                     std::span<const float> weights, StepAddress address) {
  model.prepare(Product::forward, address);
  teacher_.log_probabilities(model, tokens);
  teacher_.backward(model, weights);
  return download();
}

std::vector<GradientError> GradientErrors::measure(std::span<const std::int32_t> tokens, std::span<const float> weights,
                                                   StepAddress address) {
  const Gradient g = download();
  const Gradient g0 = gradient_of(bf16_, tokens, weights, address);
  std::vector<Gradient> others;
  for (std::int64_t r = 1; random_ && r <= repeats; ++r) {
    const StepAddress other{address.seed + (static_cast<std::uint64_t>(r) << 48), address.step};
    others.push_back(gradient_of(plan_, tokens, weights, other));
  }
  upload(g);

  std::vector<GradientError> errors;
  Sums all;
  const std::int64_t counted = random_ ? repeats : 1;
  for (std::size_t i = 0; i < g.size(); ++i) {
    Sums sums = sums_of(g[i], g0[i]);
    std::vector<std::span<const float>> of_this;
    for (const Gradient& other : others) of_this.emplace_back(other[i]);
    if (random_) add_repeats(sums, of_this, g0[i]);
    all.add(sums);
    errors.push_back(error_of((*parameters_)[i].name, sums, counted));
  }
  errors.push_back(error_of(all_parameters, all, counted));
  return errors;
}

}  // namespace fp4proof::training
