// The backward pass against finite differences of an independent forward pass in binary64.
//
// Under the plan bf16 the operands of every linear layer are rounded to 8 bits, so gradients agree to about a percent
// of their norm; a wrong term is off by far more.

#include <gtest/gtest.h>

#include "tests/training/naive_policy.h"
#include "tests/training/on_reference.h"

namespace fp4proof::training {
namespace {

using testing::NaivePolicy;
using testing::Vector;

NaivePolicy naive_copy(Operators& operators, const Config& config, const Parameters& parameters) {
  NaivePolicy policy;
  policy.shape = config.model;
  policy.gain.assign(parameters.outlier_gain.begin(), parameters.outlier_gain.end());
  for (const Parameter& p : parameters.all) {
    const std::vector<float> values = operators.download(p.weight);
    policy.weights[p.name] = Vector(values.begin(), values.end());
  }
  return policy;
}

/// The sum of -weight * log-probability over the answers.
double loss_of(const NaivePolicy& policy, TaskLengths lengths, const std::vector<std::int32_t>& tokens,
               const std::vector<float>& weights) {
  double loss = 0;
  const auto length = static_cast<std::size_t>(lengths.sequence());
  const auto answer = static_cast<std::size_t>(lengths.answer);
  for (std::size_t s = 0; s * length < tokens.size(); ++s) {
    const std::vector<int> sequence(tokens.begin() + static_cast<std::ptrdiff_t>(s * length),
                                    tokens.begin() + static_cast<std::ptrdiff_t>((s + 1) * length));
    const auto logits = policy.logits(sequence);
    for (std::size_t place = 0; place < answer; ++place) {
      const std::size_t target = static_cast<std::size_t>(lengths.prompt) + place;
      loss -= weights[s * answer + place] * NaivePolicy::log_probability(logits[target - 1], sequence[target]);
    }
  }
  return loss;
}

/// The number of experts; 0: dense.
class Gradient : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(Gradient, AgreesWithFiniteDifferences) {
  Config config = testing::tiny();
  config.model.experts = GetParam();
  config.model.layers = 2;
  config.model.heads = 2;
  config.model.head_size = 32;
  constexpr std::int64_t sequences = 3;
  Operators operators = testing::reference_operators();
  const PlanCodings bf16 = testing::codings_of("bf16");
  Parameters parameters = initial_parameters(operators, config);
  Model model(operators, config.model, bf16, parameters);
  Teacher teacher(operators, config.model, config.task, sequences);
  const std::vector<std::int32_t> tokens = testing::right_answers(config, sequences);
  std::vector<float> weights(static_cast<std::size_t>(sequences * lengths_of(config.task).answer));
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 5) - 1.5F;

  model.prepare(Product::forward, {config.seed, 1});
  const std::vector<float> log_probability = teacher.log_probabilities(model, tokens);
  teacher.backward(model, weights);
  ASSERT_TRUE(operators.check()) << operators.check().error().message;

  NaivePolicy policy = naive_copy(operators, config, parameters);
  double loss = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) loss -= weights[i] * log_probability[i];
  EXPECT_NEAR(loss_of(policy, lengths_of(config.task), tokens, weights), loss, 0.02 * std::abs(loss));

  for (const Parameter& p : parameters.all) {
    const std::vector<float> gradient = operators.download(p.gradient);
    Vector& values = policy.weights[p.name];
    double difference = 0;
    double norm = 0;
    // Some 25 elements of each tensor, outlier channels among them; the step suits third derivatives near 1.
    const std::size_t stride = values.size() / 25 + 1;
    for (std::size_t i = 5; i < values.size(); i += stride) {
      constexpr double step = 1e-5;
      const double clean = values[i];
      values[i] = clean + step;
      const double above = loss_of(policy, lengths_of(config.task), tokens, weights);
      values[i] = clean - step;
      const double below = loss_of(policy, lengths_of(config.task), tokens, weights);
      values[i] = clean;
      const double expected = (above - below) / (2 * step);
      difference += (gradient[i] - expected) * (gradient[i] - expected);
      norm += expected * expected;
    }
    EXPECT_TRUE(norm > 0 || GetParam() != 0) << p.name;  // an expert may have no row
    // The gradient of a router is a difference of two products of nearly equal size: roundings weigh more.
    const double tolerance = p.name.ends_with("router") ? 0.08 : 0.02;
    EXPECT_LT(std::sqrt(difference), tolerance * std::sqrt(norm)) << p.name;
  }
}

INSTANTIATE_TEST_SUITE_P(DenseAndExperts, Gradient, ::testing::Values(0, 4));

}  // namespace
}  // namespace fp4proof::training
