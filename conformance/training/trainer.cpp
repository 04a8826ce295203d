#include "conformance/training/trainer.h"

#include <algorithm>

#include "reference/portable/noise.h"

namespace fp4proof::training {

namespace {

StepAddress address_of(const Config& config, std::int64_t step) {
  return {config.seed, static_cast<std::uint32_t>(step)};
}

std::span<const std::int32_t> answer_of(const Answers& answers, TaskLengths lengths, std::size_t sequence) {
  const auto begin = sequence * static_cast<std::size_t>(lengths.sequence()) + static_cast<std::size_t>(lengths.prompt);
  return std::span(answers.tokens).subspan(begin, static_cast<std::size_t>(lengths.answer));
}

std::vector<float> rewards_of(Task task, std::span<const Problem> problems, const Answers& answers) {
  std::vector<float> rewards;
  const std::size_t group = answers.length.size() / problems.size();
  for (std::size_t s = 0; s < answers.length.size(); ++s) {
    const bool right = verify(task, problems[s / group].prompt, answer_of(answers, lengths_of(task), s));
    rewards.push_back(right ? 1.0F : 0.0F);
  }
  return rewards;
}

std::vector<Problem> draw_problems(const Config& config, Stream stream, std::int64_t step, std::int64_t count) {
  std::vector<Problem> problems;
  for (std::int64_t i = 0; i < count; ++i) {
    problems.push_back(draw_problem(config.task, config.seed, stream, static_cast<std::uint32_t>(step),
                                    static_cast<std::uint64_t>(i)));
  }
  return problems;
}

double mean(std::span<const float> values) {
  double sum = 0;
  for (const float v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

/// The share of groups with unequal rewards: the others teach nothing.
double live_share(std::span<const float> rewards, std::int64_t group) {
  const auto size = static_cast<std::size_t>(group);
  std::int64_t live = 0;
  for (std::size_t begin = 0; begin < rewards.size(); begin += size) {
    const auto members = rewards.subspan(begin, size);
    if (std::any_of(members.begin(), members.end(), [&](float r) { return r != members.front(); })) ++live;
  }
  const std::size_t groups = rewards.size() / size;
  return static_cast<double>(live) / static_cast<double>(groups);
}

/// The schedule of the noise over a run; a run shorter than the intervals has one step an interval.
portable::NoiseSchedule schedule_of(const NoisePlan& noise, std::int64_t steps) {
  const auto count = static_cast<std::uint32_t>(steps);
  return {noise.sigma_start, noise.sigma_end, std::min(noise.intervals, count), noise.first_silent, count};
}

}  // namespace

// ---------------------------------------------------------------------------------------------------------------------
// Warm start
// ---------------------------------------------------------------------------------------------------------------------

WarmStarter::WarmStarter(Operators& operators, const Config& config, const PlanCodings& bf16, Parameters& parameters)
    : operators_(&operators),
      config_(config),
      parameters_(&parameters),
      model_(operators, config.model, bf16, parameters),
      teacher_(operators, config.model, config.task, config.warm_start.batch),
      optimizer_(operators, config.warm_start.adam, parameters) {}

WarmStartRecord WarmStarter::step(std::int64_t step, Trace* trace) {
  const WarmStart& settings = config_.warm_start;
  std::vector<std::int32_t> tokens;
  const auto problems = draw_problems(config_, Stream::sft_prompt, step, settings.batch);
  for (std::size_t i = 0; i < problems.size(); ++i) {
    std::vector<std::int32_t> answer = problems[i].answer;
    add_label_noise(config_.task, settings.noise, config_.seed, static_cast<std::uint32_t>(step), i, answer);
    tokens.insert(tokens.end(), problems[i].prompt.begin(), problems[i].prompt.end());
    tokens.insert(tokens.end(), answer.begin(), answer.end());
  }
  model_.prepare(Product::forward, address_of(config_, step));
  const std::vector<float> log_probability = teacher_.log_probabilities(model_, tokens);
  const auto share = static_cast<float>(1.0 / static_cast<double>(log_probability.size()));
  teacher_.backward(model_, std::vector<float>(log_probability.size(), share));
  WarmStartRecord record{step, -mean(log_probability), optimizer_.update(step)};
  if (trace != nullptr) {
    trace->begin(step);
    trace->add("tokens", std::span<const std::int32_t>(tokens));
    trace->add("log_probability", std::span<const float>(log_probability));
    trace->add("gradient_norm", record.optimizer.gradient_norm);
    trace->add(*operators_, *parameters_);
  }
  return record;
}

// ---------------------------------------------------------------------------------------------------------------------
// Reinforcement
// ---------------------------------------------------------------------------------------------------------------------

Result<void> Reinforcer::check(const Config& config, const PlanCodings& plan) {
  if (!plan.noise().on) return {};
  return portable::check_schedule(schedule_of(plan.noise(), config.reinforcement.steps));
}

Reinforcer::Reinforcer(Operators& operators, const Config& config, const PlanCodings& plan, Parameters& parameters)
    : operators_(&operators),
      config_(config),
      plan_(&plan),
      parameters_(&parameters),
      model_(operators, config.model, plan, parameters),
      rollout_(operators, config.model, config.task, config.reinforcement.prompts, config.reinforcement.group),
      teacher_(operators, config.model, config.task, config.reinforcement.sequences()),
      optimizer_(operators, config.reinforcement.adam, parameters) {}

StepRecord Reinforcer::step(std::int64_t step, Trace* trace, StepWatch* watch) {
  const Reinforcement& settings = config_.reinforcement;
  const StepAddress address = address_of(config_, step);
  StepRecord record;
  record.step = step;
  if (plan_->noise().on) {
    record.noise_sigma =
        portable::noise_sigma(schedule_of(plan_->noise(), settings.steps), static_cast<std::uint32_t>(step - 1));
  }

  model_.prepare(Product::rollout, address, record.noise_sigma);
  const auto problems = draw_problems(config_, Stream::rl_prompt, step, settings.prompts);
  const Answers answers = rollout_.answer(model_, Product::rollout, problems, address, false);
  const std::vector<float> rewards = rewards_of(config_.task, problems, answers);
  const std::vector<float> advantage = advantages(rewards, settings.group);

  model_.prepare(Product::forward, address);
  const std::vector<float> log_probability = teacher_.log_probabilities(model_, answers.tokens);
  Loss loss = loss_of(
      settings, {lengths_of(config_.task).answer, answers.length, advantage, answers.log_probability, log_probability});
  teacher_.backward(model_, loss.weights);
  if (watch != nullptr) watch->before_update(answers.tokens, loss.weights);
  record.optimizer = optimizer_.update(step);

  double tokens = 0;
  for (const std::int64_t length : answers.length) tokens += static_cast<double>(length);
  record.reward = mean(rewards);
  record.live_groups = live_share(rewards, settings.group);
  record.length = tokens / static_cast<double>(settings.sequences());
  for (const float e : answers.entropy) record.entropy += e;
  record.entropy /= tokens;
  if (trace != nullptr) {
    trace->begin(step);
    trace->add("tokens", std::span<const std::int32_t>(answers.tokens));
    trace->add("rollout_log_probability", std::span<const float>(answers.log_probability));
    trace->add("entropy", std::span<const float>(answers.entropy));
    trace->add("rewards", std::span<const float>(rewards));
    trace->add("training_log_probability", std::span<const float>(log_probability));
    trace->add("loss", loss.value);
    trace->add("loss_weights", std::span<const float>(loss.weights));
    trace->add("gradient_norm", record.optimizer.gradient_norm);
    trace->add(*operators_, *parameters_);
  }
  loss.weights.clear();
  record.loss = std::move(loss);
  return record;
}

// ---------------------------------------------------------------------------------------------------------------------
// Evaluation
// ---------------------------------------------------------------------------------------------------------------------

Evaluator::Evaluator(Operators& operators, const Config& config, const PlanCodings& plan, Parameters& parameters,
                     std::int64_t prompts)
    : config_(config),
      model_(operators, config.model, plan, parameters),
      rollout_(operators, config.model, config.task, prompts, 1),
      problems_(draw_problems(config, Stream::eval, 0, prompts)) {}

double Evaluator::accuracy(Product product, std::int64_t step) {
  const StepAddress address = address_of(config_, step);
  model_.prepare(product, address);
  const Answers answers = rollout_.answer(model_, product, problems_, address, true);
  return mean(rewards_of(config_.task, problems_, answers));
}

}  // namespace fp4proof::training
