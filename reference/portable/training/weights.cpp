#include "reference/portable/training/weights.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "formats/mix64.h"
#include "formats/strict_math.h"
#include "reference/portable/training/row_sum.h"
#include "reference/portable/training/threads.h"
#include "reference/portable/vectorize.h"

namespace fp4proof::portable::training {

namespace {

/// The squares of one segment, added up.
FP4PROOF_CLONES double segment_squares(const float* x, std::int64_t count) {
  alignas(64) std::array<double, sum_lanes> lanes = {};
  std::int64_t i = 0;
  for (; i + sum_lanes <= count; i += sum_lanes) {
    FP4PROOF_VECTORIZE_LOOP
    for (std::int64_t lane = 0; lane < sum_lanes; ++lane) {
      const auto wide = static_cast<double>(x[i + lane]);
      lanes[static_cast<std::size_t>(lane)] += wide * wide;
    }
  }
  for (std::int64_t lane = 0; i + lane < count; ++lane) {
    const auto wide = static_cast<double>(x[i + lane]);
    lanes[static_cast<std::size_t>(lane)] += wide * wide;
  }
  return folded(lanes);
}

FP4PROOF_CLONES void adam_range(const AdamStep& step, std::int64_t count, const float* gradient, float* first_moment,
                                float* second_moment, float* weight) {
  const float rest1 = 1.0F - step.beta1;
  const float rest2 = 1.0F - step.beta2;
  const AdamStep s = step;
  FP4PROOF_VECTORIZE_LOOP
  for (std::int64_t i = 0; i < count; ++i) {
    const float g = gradient[i] * s.gradient_scale;
    const float m = strict::canonicalise_nan(s.beta1 * first_moment[i] + rest1 * g);
    const float v = strict::canonicalise_nan(s.beta2 * second_moment[i] + rest2 * (g * g));
    const float change = (s.learning_rate * (m / s.correction1)) / (strict::sqrt(v / s.correction2) + s.epsilon);
    first_moment[i] = m;
    second_moment[i] = v;
    weight[i] = strict::canonicalise_nan(weight[i] - change);
  }
}

FP4PROOF_CLONES std::uint64_t digest_range(const std::uint32_t* words, std::int64_t first, std::int64_t last) {
  std::uint64_t sum = 0;
  for (std::int64_t i = first; i < last; ++i) sum += mix64((static_cast<std::uint64_t>(i) << 32) + words[i]);
  return sum;
}

}  // namespace

double sum_squares(std::int64_t count, const float* x) {
  const std::int64_t segments = (count + sum_segment - 1) / sum_segment;
  std::vector<double> sums(static_cast<std::size_t>(segments));
  in_ranges(segments, sum_segment, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t segment = first; segment < last; ++segment) {
      const std::int64_t start = segment * sum_segment;
      sums[static_cast<std::size_t>(segment)] = segment_squares(x + start, std::min(sum_segment, count - start));
    }
  });
  double total = sums.empty() ? 0.0 : sums[0];
  for (std::size_t segment = 1; segment < sums.size(); ++segment) total += sums[segment];
  constexpr double canonical = __builtin_bit_cast(double, std::uint64_t{0x7FF8000000000000U});
  return total == total ? total : canonical;
}

void adam(const AdamStep& step, std::int64_t count, const float* gradient, float* first_moment, float* second_moment,
          float* weight) {
  in_ranges(count, 8, [&](std::int64_t first, std::int64_t last) {
    adam_range(step, last - first, gradient + first, first_moment + first, second_moment + first, weight + first);
  });
}

void add_noise(std::int64_t count, const RandomAddress& random, float sigma, const float* weight, float* y) {
  if (sigma == 0.0F) {
    if (count > 0) std::memmove(y, weight, static_cast<std::size_t>(count) * sizeof(float));
    return;
  }
  in_ranges(count, 100, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const std::uint64_t element = random.first + static_cast<std::uint64_t>(i);
      const float noise = sigma * random_normal(random.seed, random.stream, random.step, element);
      y[i] = strict::canonicalise_nan(weight[i] + noise);
    }
  });
}

std::uint64_t digest(std::int64_t count, const std::uint32_t* words) {
  constexpr std::int64_t piece = 1 << 16;
  const std::int64_t pieces = (count + piece - 1) / piece;
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(pieces));
  in_ranges(pieces, piece, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      sums[static_cast<std::size_t>(i)] = digest_range(words, i * piece, std::min(count, (i + 1) * piece));
  });
  std::uint64_t total = 0;
  for (const std::uint64_t sum : sums) total += sum;
  return total;
}

}  // namespace fp4proof::portable::training
