#pragma once
// What `train` and `sweep` both ask for.

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/training/config.h"
#include "formats/result.h"

namespace fp4proof::cli {

/// All that makes a run but its seed, its plan and its folder.
struct TrainOptions {
  std::string preset = "micro";
  std::string backend = "reference";
  std::string loss;                   ///< empty: as the preset says
  std::optional<std::int64_t> steps;  ///< none: as the preset says
  float outlier_gain = 0;             ///< 0: as the preset says
  std::int64_t measure_every = 10;    ///< steps; 0: never
};

/// --preset, --backend, --loss, --steps (from `fewest_steps`), --outlier-gain, --measure-every.
void add_train_options(CLI::App& command, TrainOptions& options, std::int64_t fewest_steps);

/// The preset with what the options change of it. `usage` error for unknown names.
Result<training::Config> config_of(const TrainOptions& options, std::uint64_t seed);

/// The words that give these options to `fp4proof train`, with `steps` in place of their own.
std::vector<std::string> words_of(const TrainOptions& options, std::int64_t steps);

}  // namespace fp4proof::cli
