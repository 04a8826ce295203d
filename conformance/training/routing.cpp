#include "conformance/training/routing.h"

#include "conformance/training/extent.h"
#include "formats/strict_math.h"

namespace fp4proof::training {

namespace {

std::span<const float> row_of(std::span<const float> matrix, std::size_t row, std::int64_t width) {
  return matrix.subspan(row * size(width), size(width));
}

float dot(std::span<const float> a, std::span<const float> b) {
  float sum = 0.0F;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// The two experts of a row, in the order of their numbers.
struct Choice {
  std::size_t low = 0, high = 0;
  float low_weight = 0, high_weight = 0;
};

Choice choose(const std::vector<float>& logits) {
  std::size_t best = 0;
  for (std::size_t e = 1; e < logits.size(); ++e)
    if (logits[e] > logits[best]) best = e;
  std::size_t second = best == 0 ? 1 : 0;
  for (std::size_t e = second + 1; e < logits.size(); ++e)
    if (e != best && logits[e] > logits[second]) second = e;
  const float ratio = strict::exp(logits[second] - logits[best]);
  const float sum = 1.0F + ratio;
  const float best_weight = strict::divide(1.0F, sum);
  const float second_weight = strict::divide(ratio, sum);
  if (best < second) return {best, second, best_weight, second_weight};
  return {second, best, second_weight, best_weight};
}

}  // namespace

Routing route(std::span<const float> x, std::span<const float> router, std::int64_t width) {
  const std::size_t rows = x.size() / size(width);
  const std::size_t experts = router.size() / size(width);
  std::vector<Choice> choices;
  std::vector<std::int64_t> counts(experts, 0);
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<float> logits;
    for (std::size_t e = 0; e < experts; ++e) logits.push_back(dot(row_of(x, row, width), row_of(router, e, width)));
    choices.push_back(choose(logits));
    ++counts[choices.back().low];
    ++counts[choices.back().high];
  }

  Routing routing;
  routing.begin.push_back(0);
  for (const std::int64_t count : counts) {
    const std::int64_t padded = (count + expert_row_multiple - 1) / expert_row_multiple * expert_row_multiple;
    routing.begin.push_back(routing.begin.back() + padded);
  }
  routing.token.assign(size(routing.expert_rows()), -1);
  routing.weight.assign(size(routing.expert_rows()), 0.0F);
  std::vector<std::int64_t> next = routing.begin;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto place = [&](std::size_t expert, float weight) {
      const std::int64_t at = next[expert]++;
      routing.token[size(at)] = static_cast<std::int32_t>(row);
      routing.weight[size(at)] = weight;
      return static_cast<std::int32_t>(at);
    };
    const Choice& choice = choices[row];
    routing.low.push_back(place(choice.low, choice.low_weight));
    routing.high.push_back(place(choice.high, choice.high_weight));
    routing.low_weight.push_back(choice.low_weight);
    routing.high_weight.push_back(choice.high_weight);
  }
  return routing;
}

RouterGradient router_gradient(const Routing& routing, std::span<const float> x, std::span<const float> router,
                               std::span<const float> dy, std::span<const float> outputs, std::int64_t width) {
  RouterGradient gradient{std::vector<float>(router.size(), 0.0F), std::vector<float>(x.size(), 0.0F)};
  const auto expert_of = [&](std::int32_t expert_row) {
    std::size_t expert = 0;
    while (routing.begin[expert + 1] <= expert_row) ++expert;
    return expert;
  };
  for (std::size_t row = 0; row < routing.low.size(); ++row) {
    const auto flow = [&](std::int32_t place) {
      return dot(row_of(dy, row, width), row_of(outputs, static_cast<std::size_t>(place), width));
    };
    const float difference = flow(routing.low[row]) - flow(routing.high[row]);
    const float d_low = routing.low_weight[row] * routing.high_weight[row] * difference;
    for (const auto& [place, d_logit] : {std::pair{routing.low[row], d_low}, {routing.high[row], -d_low}}) {
      const std::size_t first = expert_of(place) * size(width);
      for (std::size_t c = 0; c < size(width); ++c) {
        const std::size_t i = row * size(width) + c;
        gradient.router[first + c] += d_logit * x[i];
        gradient.x[i] += d_logit * router[first + c];
      }
    }
  }
  for (float& g : gradient.router) g = strict::canonicalise_nan(g);
  for (float& g : gradient.x) g = strict::canonicalise_nan(g);
  return gradient;
}

}  // namespace fp4proof::training
