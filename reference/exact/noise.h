#pragma once
// Adaptive quantization noise: rules C50 and C51 of docs/rules-corrections.md.

#include <cstdint>
#include <optional>

namespace fp4proof::exact {

/// start (end / start)^(i / n), 0 <= i <= n, rounded once to binary32; start and end are positive finite words. Found
/// by comparing n-th powers.
std::uint32_t geometric_step(std::uint32_t start, std::uint32_t end, std::uint32_t i, std::uint32_t n);

/// `steps` training steps in equal intervals; start and end are binary32 words.
struct NoiseIntervals {
  std::uint32_t start;
  std::uint32_t end;
  std::uint32_t intervals;
  bool first_silent;
  std::uint32_t steps;
};

/// sigma at step `step` < steps, a binary32 word; +0 in the silent interval.
std::uint32_t noise_sigma(const NoiseIntervals& noise, std::uint32_t step);

/// RN(w + RN(sigma n)), or w where sigma is 0.
std::uint32_t noisy_weight(std::uint32_t w, std::uint32_t sigma, std::uint32_t normal);

}  // namespace fp4proof::exact
