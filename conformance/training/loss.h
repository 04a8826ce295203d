#pragma once
// From rewards to the weight of every token in the gradient: numbers of the host, in a fixed order, strict.

#include <cstdint>
#include <span>
#include <vector>

#include "conformance/training/config.h"

namespace fp4proof::training {

/// (reward - mean) / (standard deviation + 1e-6) in each group of consecutive rewards; binary64, rounded at the end.
std::vector<float> advantages(std::span<const float> rewards, std::int64_t group);

/// What a loss looks at. Matrices are [sequences, places]; of each sequence the first length[s] places count.
struct LossInput {
  std::int64_t places = 0;
  std::span<const std::int64_t> length;
  std::span<const float> advantage;
  std::span<const float> rollout_log_probability;
  std::span<const float> training_log_probability;
};

struct Loss {
  double value = 0;            ///< mean over tokens
  std::vector<float> weights;  ///< [sequences, places]: the gradient is that of -weight * log-probability, summed

  // The two engines compared, d = training - rollout log-probability, over tokens.
  double k1 = 0;              ///< mean of -d
  double k3 = 0;              ///< mean of exp(d) - 1 - d
  double max_difference = 0;  ///< largest |d|
  double ratio_p99 = 0;       ///< exp(d) at the 99th percentile (nearest rank)
  double clip_fraction = 0;   ///< tokens whose ratio was clipped, or that a sequence mask left out
};

Loss loss_of(const Reinforcement& settings, const LossInput& input);

}  // namespace fp4proof::training
