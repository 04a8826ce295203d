#pragma once
// What a training run consists of, as data: presets and hyperparameters. docs/training.md describes them.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "formats/spec.h"

namespace fp4proof::training {

/// A run has at most so many steps: the numbers of its products hold the step above 12 other bits.
inline constexpr std::int64_t most_steps = std::int64_t{1} << 19;

enum class Task : std::uint8_t {
  add2,  ///< `ab+cd=`: the sum, least significant digit first, then EOS
  add3,  ///< the same with three digits
  ops3,  ///< `abc`, a target and `=`: two operators that reach it from left to right, then EOS
};

/// Where the ratio of new to old probability comes from, and what weighs a token beside it.
enum class LossForm : std::uint8_t {
  decoupled,  ///< old log-probabilities recomputed by the training engine
  ppo,        ///< old log-probabilities of the rollout
  tis,        ///< decoupled, each token times its importance min(p_train / p_rollout, cap)
  mis,        ///< decoupled, without the sequences whose importance exceeds the cap
};

/// The policy: a pre-norm transformer.
struct ModelShape {
  std::int64_t width = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t head_size = 0;
  std::int64_t feed_forward = 0;
  std::int64_t experts = 0;  ///< 0: dense; else the best two of so many
  std::int64_t vocabulary = 32;
  float outlier_gain = 8.0F;  ///< on 2 of 64 channels behind each RMSNorm of a layer; 1: none
  constexpr bool operator==(const ModelShape&) const = default;
};

/// Adam with a linear warm-up, after clipping by the norm of the whole gradient.
struct AdamSettings {
  float learning_rate = 0;
  std::int64_t warm_up = 0;
  float beta1 = 0.9F;
  float beta2 = 0.95F;
  float epsilon = 1e-8F;
  double clip_norm = 1.0;
  constexpr bool operator==(const AdamSettings&) const = default;
};

/// Supervised warm start on noisy answers, in bfloat16.
struct WarmStart {
  std::int64_t steps = 0;
  std::int64_t batch = 256;
  float noise = 0.3F;  ///< the share of answer symbols that are replaced by a random one
  AdamSettings adam{2e-3F, 50};
  constexpr bool operator==(const WarmStart&) const = default;
};

/// Group-relative policy optimization, one update a rollout.
struct Reinforcement {
  std::int64_t steps = 0;
  std::int64_t prompts = 0;
  std::int64_t group = 0;  ///< answers to each prompt
  LossForm loss = LossForm::decoupled;
  double clip_low = 0.2;
  double clip_high = 0.28;
  double importance_cap = 2.0;  ///< tis, mis
  AdamSettings adam{5e-4F, 10};
  std::int64_t evaluate_every = 50;
  std::int64_t evaluation_prompts = 256;
  constexpr std::int64_t sequences() const { return prompts * group; }
  constexpr bool operator==(const Reinforcement&) const = default;
};

struct Config {
  std::string_view preset;
  std::string_view summary;
  Task task = Task::add2;
  ModelShape model;
  WarmStart warm_start;
  Reinforcement reinforcement;
  std::uint64_t seed = 1;
  constexpr bool operator==(const Config&) const = default;
};

/// The presets, from small to large.
std::span<const Config> presets();

/// The preset of that exact name, or nullptr.
const Config* find_preset(std::string_view name);

/// The loss of that exact name, if there is one.
std::optional<LossForm> find_loss(std::string_view name);

}  // namespace fp4proof::training

namespace fp4proof {
FP4PROOF_ENUM_NAMES(training::Task, {"add2", "add3", "ops3"});
FP4PROOF_ENUM_NAMES(training::LossForm, {"decoupled", "ppo", "tis", "mis"});
}  // namespace fp4proof
