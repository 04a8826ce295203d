#include "conformance/training/config.h"

#include <algorithm>

#include "conformance/training/tensor_numbers.h"

namespace fp4proof::training {

namespace {

constexpr WarmStart warm_start(std::int64_t steps, std::int64_t batch) {
  WarmStart w;
  w.steps = steps;
  w.batch = batch;
  return w;
}

constexpr Reinforcement reinforcement(std::int64_t steps, std::int64_t prompts, std::int64_t group) {
  Reinforcement r;
  r.steps = steps;
  r.prompts = prompts;
  r.group = group;
  return r;
}

/// Too small to learn both the sums and the noise on them in seconds, so it starts from clean answers.
constexpr Config tiny() {
  Config c{"tiny",
           "one layer, five steps: for continuous integration",
           Task::add2,
           {64, 1, 1, 64, 64},
           warm_start(400, 64),
           reinforcement(5, 8, 8)};
  c.warm_start.noise = 0.0F;
  c.warm_start.adam.learning_rate = 5e-3F;
  c.reinforcement.adam.warm_up = 2;
  c.reinforcement.evaluate_every = 5;
  c.reinforcement.evaluation_prompts = 16;
  return c;
}

constexpr Config tiny_experts() {
  Config c = tiny();
  c.preset = "tiny-moe";
  c.summary = "tiny with four experts";
  c.model.experts = 4;
  return c;
}

constexpr std::array preset_table = {
    tiny(),
    tiny_experts(),
    Config{"micro",
           "two layers, two digits: the effects in minutes",
           Task::add2,
           {64, 2, 2, 32, 128},
           warm_start(800, 256),
           reinforcement(150, 64, 8)},
    Config{"micro-moe",
           "micro with four experts",
           Task::add2,
           {64, 2, 2, 32, 64, 4},
           warm_start(800, 256),
           reinforcement(150, 64, 8)},
    Config{"mid",
           "four layers, three digits",
           Task::add3,
           {128, 4, 2, 64, 256},
           warm_start(800, 256),
           reinforcement(200, 128, 16)},
    Config{"mid-moe",
           "mid with eight experts",
           Task::add3,
           {128, 4, 2, 64, 256, 8},
           warm_start(800, 256),
           reinforcement(200, 128, 16)},
    Config{"gpu",
           "six layers, eight experts: for a GPU alone",
           Task::add3,
           {512, 6, 8, 64, 1536, 8, 64},
           warm_start(800, 256),
           reinforcement(300, 256, 16)},
};

static_assert(std::ranges::all_of(preset_table, [](const Config& c) {
  return c.model.layers <= most_layers && c.model.experts <= most_experts;
}));

}  // namespace

std::span<const Config> presets() { return preset_table; }

const Config* find_preset(std::string_view name) {
  for (const Config& config : preset_table)
    if (config.preset == name) return &config;
  return nullptr;
}

std::optional<LossForm> find_loss(std::string_view name) {
  for (std::size_t i = 0; i < EnumNames<LossForm>::names.size(); ++i) {
    if (EnumNames<LossForm>::names[i] == name) return static_cast<LossForm>(i);
  }
  return std::nullopt;
}

}  // namespace fp4proof::training
