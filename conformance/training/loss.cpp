#include "conformance/training/loss.h"

#include <algorithm>
#include <cmath>

#include "formats/strict_math.h"

namespace fp4proof::training {

namespace {

double ratio_of(float difference) { return strict::exp(difference); }

/// exp of the summed differences of a sequence.
double sequence_ratio(std::span<const float> differences) {
  float sum = 0.0F;
  for (const float d : differences) sum += d;
  return ratio_of(sum);
}

/// NaN stands behind every number.
bool is_less(double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; }

struct Token {
  double ratio = 1;       ///< new to old probability
  double importance = 1;  ///< what else weighs it; 0: left out
};

}  // namespace

std::vector<float> advantages(std::span<const float> rewards, std::int64_t group) {
  std::vector<float> result;
  for (std::size_t begin = 0; begin < rewards.size(); begin += static_cast<std::size_t>(group)) {
    const auto members = rewards.subspan(begin, static_cast<std::size_t>(group));
    double sum = 0;
    for (const float r : members) sum += r;
    const double mean = sum / static_cast<double>(group);
    double squares = 0;
    for (const float r : members) squares += (r - mean) * (r - mean);
    const double deviation = strict::sqrt_double(squares / static_cast<double>(group));
    for (const float r : members) result.push_back(static_cast<float>((r - mean) / (deviation + 1e-6)));
  }
  return result;
}

Loss loss_of(const Reinforcement& settings, const LossInput& input) {
  Loss loss;
  loss.weights.assign(input.training_log_probability.size(), 0.0F);
  std::int64_t count = 0;
  for (const std::int64_t length : input.length) count += length;
  const auto tokens = static_cast<double>(count);
  std::vector<double> ratios;
  std::int64_t left_out = 0;

  for (std::size_t s = 0; s < input.length.size(); ++s) {
    const std::size_t begin = s * static_cast<std::size_t>(input.places);
    std::vector<float> differences;
    for (std::size_t i = begin; i < begin + static_cast<std::size_t>(input.length[s]); ++i) {
      differences.push_back(input.training_log_probability[i] - input.rollout_log_probability[i]);
    }
    const bool masked = settings.loss == LossForm::mis && sequence_ratio(differences) > settings.importance_cap;
    for (std::size_t t = 0; t < differences.size(); ++t) {
      const float d = differences[t];
      const double engines = ratio_of(d);
      ratios.push_back(engines);
      loss.k1 -= d;
      loss.k3 += engines - 1.0 - d;
      loss.max_difference = std::max(loss.max_difference, std::abs(static_cast<double>(d)), is_less);

      // One update a rollout: where the training engine recomputes the old log-probabilities, the ratio is 1.
      Token token;
      if (settings.loss == LossForm::ppo) token.ratio = engines;
      if (settings.loss == LossForm::tis) token.importance = std::min(engines, settings.importance_cap);
      if (masked) token.importance = 0;
      const double advantage = input.advantage[s];
      const bool clipped = advantage > 0 ? token.ratio > 1.0 + settings.clip_high
                                         : advantage < 0 && token.ratio < 1.0 - settings.clip_low;
      const double bound = advantage > 0 ? 1.0 + settings.clip_high : 1.0 - settings.clip_low;
      loss.value -= advantage * (clipped ? bound : token.ratio) * token.importance;
      if (clipped || masked) {
        ++left_out;
      } else {
        loss.weights[begin + t] =
            strict::canonicalise_nan(static_cast<float>(advantage * token.ratio * token.importance / tokens));
      }
    }
  }
  if (count == 0) return loss;
  loss.value /= tokens;
  loss.k1 /= tokens;
  loss.k3 /= tokens;
  loss.clip_fraction = static_cast<double>(left_out) / tokens;
  std::sort(ratios.begin(), ratios.end(), is_less);
  loss.ratio_p99 = ratios[(ratios.size() * 99 + 99) / 100 - 1];
  return loss;
}

}  // namespace fp4proof::training
