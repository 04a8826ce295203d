#pragma once
// Adaptive quantization noise on RMSNorm weights. Rules C50 and C51 of docs/rules-corrections.md.

#include <cstdint>
#include <span>
#include <vector>

#include "formats/result.h"

namespace fp4proof::portable {

/// A schedule as data.
struct NoiseSchedule {
  float sigma_start = 0.01F;
  float sigma_end = 0.001F;
  std::uint32_t intervals = 10;
  bool first_silent = true;
  std::uint32_t steps = 0;  ///< training steps in all
  bool operator==(const NoiseSchedule&) const = default;
};

/// ErrorKind::usage for sigma not positive and finite, fewer than 3 intervals, or fewer steps than intervals.
Result<void> check_schedule(const NoiseSchedule& schedule);

/// sigma at training step `step` < steps, correctly rounded; 0 in a silent interval. The schedule must be sound.
float noise_sigma(const NoiseSchedule& schedule, std::uint32_t step);

/// RN(w + RN(sigma n)) for every channel of one layer, from the clean weights.
std::vector<float> noisy_weights(std::span<const float> clean, float sigma, std::uint64_t seed, std::uint32_t step,
                                 std::uint32_t layer);

}  // namespace fp4proof::portable
