// Token by token with a cache or all at once, alone or in a batch: the same log-probabilities to the bit.

#include <gtest/gtest.h>

#include "formats/float_bits.h"
#include "tests/training/on_reference.h"

namespace fp4proof::training {
namespace {

std::vector<std::uint32_t> bits_of_floats(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  for (const float v : values) bits.push_back(float_bits(v));
  return bits;
}

/// The places behind the end of an answer hold 0 in Answers; the same in teacher-forced ones.
std::vector<float> counted(std::vector<float> log_probability, const Answers& answers, std::int64_t places) {
  for (std::size_t i = 0; i < log_probability.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i) % places;
    if (place >= answers.length[i / static_cast<std::size_t>(places)]) log_probability[i] = 0.0F;
  }
  return log_probability;
}

void check(std::string_view name, std::int64_t experts) {
  Config config = testing::tiny();
  config.model.experts = experts;
  config.model.layers = 2;
  config.model.heads = 2;
  config.model.head_size = 32;
  constexpr std::int64_t prompts = 6;
  constexpr std::int64_t group = 3;
  Operators operators = testing::reference_operators();
  const PlanCodings plan = testing::codings_of(name);
  Parameters parameters = initial_parameters(operators, config);
  Model model(operators, config.model, plan, parameters);
  const StepAddress address{config.seed, 3};
  std::vector<Problem> problems;
  for (std::uint64_t i = 0; i < prompts; ++i) problems.push_back(draw_problem(config.task, 5, Stream::eval, 1, i));

  // Noise belongs to the rollout alone and is no matter of precision: sigma 0.
  model.prepare(Product::rollout, address);
  Rollout together(operators, config.model, config.task, prompts, group);
  const Answers answers = together.answer(model, Product::rollout, problems, address, false);
  const std::int64_t places = lengths_of(config.task).answer;

  Teacher teacher(operators, config.model, config.task, prompts * group);
  const auto at_once = teacher.log_probabilities(model, answers.tokens, Product::rollout);
  EXPECT_EQ(bits_of_floats(counted(at_once, answers, places)), bits_of_floats(answers.log_probability));

  Rollout alone(operators, config.model, config.task, 1, 1);
  for (std::size_t s = 0; s < static_cast<std::size_t>(prompts * group); ++s) {
    const std::span<const Problem> one(&problems[s / group], 1);
    const Answers answer = alone.answer(model, Product::rollout, one, address, false, s);
    const auto length = static_cast<std::size_t>(lengths_of(config.task).sequence());
    for (std::size_t t = 0; t < length; ++t) ASSERT_EQ(answer.tokens[t], answers.tokens[s * length + t]);
    for (std::size_t t = 0; t < static_cast<std::size_t>(places); ++t) {
      const std::size_t i = s * static_cast<std::size_t>(places) + t;
      ASSERT_EQ(float_bits(answer.log_probability[t]), float_bits(answers.log_probability[i]));
      ASSERT_EQ(float_bits(answer.entropy[t]), float_bits(answers.entropy[i]));
    }
  }

  // Under a plan that codes rollout and forward alike, the training engine agrees too.
  const auto alike = [&](LayerKind kind, Operand operand) {
    return plan.at(kind, Product::rollout, operand) == plan.at(kind, Product::forward, operand);
  };
  bool equal = true;
  for (const LayerKind kind : {LayerKind::query, LayerKind::key, LayerKind::other}) {
    equal = equal && alike(kind, Operand::activation) && alike(kind, Operand::weight);
  }
  model.prepare(Product::forward, address);
  const auto training = counted(teacher.log_probabilities(model, answers.tokens), answers, places);
  ASSERT_TRUE(operators.check()) << operators.check().error().message;
  EXPECT_EQ(equal, bits_of_floats(training) == bits_of_floats(answers.log_probability));
}

class Decode : public ::testing::TestWithParam<std::string_view> {};

TEST_P(Decode, EqualsTeacherForcingAndABatchOfOne) { check(GetParam(), 0); }

TEST_P(Decode, EqualsTeacherForcingAndABatchOfOneWithExperts) { check(GetParam(), 4); }

std::vector<std::string_view> plan_names() {
  std::vector<std::string_view> names;
  for (const PrecisionPlan& plan : precision_plans()) names.push_back(plan.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(EveryPlan, Decode, ::testing::ValuesIn(plan_names()), [](const auto& plan) {
  std::string name(plan.param);
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
});

}  // namespace
}  // namespace fp4proof::training
