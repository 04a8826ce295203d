#include "reference/portable/noise.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "formats/philox.h"
#include "formats/strict_math.h"
#include "reference/portable/noise_power.h"

namespace fp4proof::portable {

namespace {

/// The halfway point between a positive binary32 number and the next one.
Magnitude halfway_above(std::uint32_t word) {
  const Magnitude m = magnitude_of_bits(word);
  return {2 * m.significand + 1, m.exponent - 1};
}

/// The mean, rounded to binary32, ties to even. It lies between the two ends, so the words between theirs are searched
/// for the first whose upper halfway point is not below the mean.
float rounded(const GeometricMean& mean, float first, float last) {
  std::uint32_t low = float_bits(std::min(first, last));
  std::uint32_t high = float_bits(std::max(first, last));
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    const int side = compare_with(mean, halfway_above(middle));
    const bool rounds_above = side > 0 || (side == 0 && (middle & 1U) != 0);
    if (rounds_above) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return float_from_bits(low);
}

/// start (end / start)^(index / count), index <= count.
float geometric_sigma(const NoiseSchedule& schedule, std::uint32_t index, std::uint32_t count) {
  if (schedule.sigma_start == schedule.sigma_end) return schedule.sigma_start;
  const std::uint32_t common = std::gcd(index, count);
  const GeometricMean mean{magnitude_of_bits(float_bits(schedule.sigma_start)),
                           magnitude_of_bits(float_bits(schedule.sigma_end)), index / common, count / common};
  return rounded(mean, schedule.sigma_start, schedule.sigma_end);
}

}  // namespace

Result<void> check_schedule(const NoiseSchedule& schedule) {
  for (const float sigma : {schedule.sigma_start, schedule.sigma_end}) {
    if (std::isfinite(sigma) && sigma > 0.0F) continue;
    return Error{ErrorKind::usage, "noise schedule: sigma " + std::to_string(sigma) +
                                       " must be positive and finite; choose for example "
                                       "0.01 at the start and 0.001 at the end"};
  }
  if (schedule.intervals < 3) {
    return Error{ErrorKind::usage, "noise schedule: " + std::to_string(schedule.intervals) +
                                       " intervals are too few for a geometric schedule; choose at least 3"};
  }
  if (schedule.steps < schedule.intervals) {
    return Error{ErrorKind::usage, "noise schedule: " + std::to_string(schedule.steps) + " steps cannot be cut into " +
                                       std::to_string(schedule.intervals) +
                                       " intervals; choose more steps or fewer intervals"};
  }
  return {};
}

float noise_sigma(const NoiseSchedule& schedule, std::uint32_t step) {
  const auto interval = static_cast<std::uint32_t>(std::uint64_t{step} * schedule.intervals / schedule.steps);
  if (!schedule.first_silent) return geometric_sigma(schedule, interval, schedule.intervals - 1);
  return interval == 0 ? 0.0F : geometric_sigma(schedule, interval - 1, schedule.intervals - 2);
}

std::vector<float> noisy_weights(std::span<const float> clean, float sigma, std::uint64_t seed, std::uint32_t step,
                                 std::uint32_t layer) {
  std::vector<float> weights(clean.begin(), clean.end());
  if (sigma == 0.0F) return weights;
  const std::uint64_t first = std::uint64_t{layer} << 32;
  for (std::size_t channel = 0; channel < weights.size(); ++channel) {
    const float noise = sigma * random_normal(seed, Stream::aqn, step, first + channel);
    weights[channel] = strict::canonicalise_nan(weights[channel] + noise);
  }
  return weights;
}

}  // namespace fp4proof::portable
