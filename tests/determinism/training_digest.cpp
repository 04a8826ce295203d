// A few steps of training under several plans, and every form of the loss.

#include <array>
#include <cmath>
#include <stdexcept>

#include "conformance/training/loss.h"
#include "conformance/training/reference_training.h"
#include "conformance/training/trainer.h"
#include "formats/philox.h"
#include "formats/spec_plans.h"
#include "tests/determinism/digest.h"

namespace fp4proof::determinism {
namespace {

using namespace training;

template <class T>
T value_of(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

/// A preset with a quarter of its batches: a build without optimisation takes a second for each plan.
Config small(std::string_view preset) {
  Config config = *find_preset(preset);
  config.warm_start.batch = 16;
  config.reinforcement.prompts = 4;
  config.reinforcement.group = 4;
  return config;
}

/// So few supervised steps earn no reward, and reinforcement then has no gradient. So the plan itself learns from right
/// answers, which takes it forward and backward; the steps of reinforcement add its rollout.
void print_run(std::string_view preset, std::string_view plan) {
  constexpr std::int64_t supervised = 4;
  constexpr std::int64_t reinforced = 2;
  const Config config = small(preset);
  const PlanCodings codings = value_of(PlanCodings::of(*find_precision_plan(plan)));
  Operators operators(*reference_training());
  Parameters parameters = initial_parameters(operators, config);
  Trace trace;
  WarmStarter starter(operators, config, codings, parameters);
  for (std::int64_t step = 1; step <= supervised; ++step) {
    starter.step(step, &trace);
    trace.end();
  }
  Reinforcer reinforcer(operators, config, codings, parameters);
  for (std::int64_t step = 1; step <= reinforced; ++step) {
    reinforcer.step(step, &trace);
    trace.end();
  }
  if (const auto sound = operators.check(); !sound) throw std::runtime_error(sound.error().message);
  Digest().add(trace.chain()).print("train " + std::string(preset) + " " + std::string(plan));
}

void print_loss(LossForm form) {
  constexpr std::size_t sequences = 64;
  constexpr std::int64_t places = 4;
  std::vector<float> rewards;
  std::vector<std::int64_t> length;
  std::vector<float> rollout;
  std::vector<float> trained;
  for (std::size_t s = 0; s < sequences; ++s) {
    const std::uint32_t word = random_word(seed, Stream::cases, 4, s);
    rewards.push_back((word & 1U) != 0 ? 1.0F : 0.0F);
    length.push_back(1 + (word >> 1) % places);
  }
  for (std::size_t i = 0; i < sequences * places; ++i) {
    rollout.push_back(-std::fabs(random_normal(seed, Stream::cases, 5, i)));
    trained.push_back(rollout.back() + 0.25F * random_normal(seed, Stream::cases, 6, i));
  }
  Reinforcement settings;
  settings.loss = form;
  const std::vector<float> advantage = advantages(rewards, 8);
  const Loss loss = loss_of(settings, {places, length, advantage, rollout, trained});
  Digest digest;
  for (const double number : {loss.value, loss.k1, loss.k3, loss.max_difference, loss.ratio_p99, loss.clip_fraction}) {
    digest.add(number);
  }
  digest.add(std::span<const float>(advantage))
      .add(std::span<const float>(loss.weights))
      .print("loss " + std::string(name_of(form)));
}

void print_training() {
  for (const char* plan : {"bf16", "mxfp4+all", "mxfp4-2d-weight", "mxfp4+hadamard-16-fresh", "hif4+resq"}) {
    print_run("tiny", plan);
  }
  print_run("tiny-moe", "mxfp4");
  for (const LossForm form : {LossForm::decoupled, LossForm::ppo, LossForm::tis, LossForm::mis}) print_loss(form);
}

}  // namespace
}  // namespace fp4proof::determinism

int main() { return fp4proof::determinism::print_parts({fp4proof::determinism::print_training}); }
