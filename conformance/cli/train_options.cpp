#include "conformance/cli/train_options.h"

#include <fmt/format.h>

#include "conformance/cli/common_options.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::cli {

void add_train_options(CLI::App& command, TrainOptions& options, std::int64_t fewest_steps) {
  command
      .add_option("--preset", options.preset, "tiny, tiny-moe, micro, micro-moe, mid, mid-moe or gpu (default: micro)")
      ->option_text("P");
  command.add_option("--backend", options.backend, "`reference`, or a library (default: reference)")->option_text("B");
  command.add_option("--steps", options.steps, "Steps of reinforcement (default: as the preset)")
      ->check(CLI::Range(fewest_steps, training::most_steps))
      ->option_text("N");
  command.add_option("--loss", options.loss, "decoupled, ppo, tis or mis (default: decoupled)")->option_text("FORM");
  command.add_option("--outlier-gain", options.outlier_gain, "Gain of the outlier channels; 1: none (default: 8)")
      ->check(number_between(1, 256))
      ->option_text("X");
  command
      .add_option("--measure-every", options.measure_every,
                  "Measure coding errors, gradients and times on step 1 and every Nth; 0: never (default: 10)")
      ->check(CLI::Range(std::int64_t{0}, training::most_steps))
      ->option_text("N");
}

Result<training::Config> config_of(const TrainOptions& options, std::uint64_t seed) {
  const training::Config* preset = training::find_preset(options.preset);
  if (preset == nullptr) {
    std::string names;
    for (const training::Config& config : training::presets()) names += fmt::format(" {}", config.preset);
    return Error{ErrorKind::usage, fmt::format("no preset {}; there are{}", quote(options.preset), names)};
  }
  training::Config config = *preset;
  config.seed = seed;
  if (options.steps) config.reinforcement.steps = *options.steps;
  if (options.outlier_gain != 0) config.model.outlier_gain = options.outlier_gain;
  if (options.loss.empty()) return config;
  const auto loss = training::find_loss(options.loss);
  if (!loss) {
    return Error{ErrorKind::usage,
                 fmt::format("no loss {}; there are decoupled, ppo, tis and mis", quote(options.loss))};
  }
  config.reinforcement.loss = *loss;
  return config;
}

std::vector<std::string> words_of(const TrainOptions& options, std::int64_t steps) {
  std::vector<std::string> words = {"--preset", options.preset, "--backend", options.backend};
  words.insert(words.end(), {"--steps", fmt::format("{}", steps)});
  words.insert(words.end(), {"--measure-every", fmt::format("{}", options.measure_every)});
  if (!options.loss.empty()) words.insert(words.end(), {"--loss", options.loss});
  if (options.outlier_gain != 0) words.insert(words.end(), {"--outlier-gain", fmt::format("{}", options.outlier_gain)});
  return words;
}

}  // namespace fp4proof::cli
