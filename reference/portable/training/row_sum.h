#pragma once
// The row sum: rule T2 of docs/rules-training.md. Its 32 lanes are two vectors.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "reference/portable/lanes.h"

namespace fp4proof::portable::training {

inline constexpr int sum_lanes = 2 * lane_count;
inline constexpr std::int64_t sum_segment = 4096;

/// Lane 0 after all folds.
template <class T>
FP4PROOF_INLINE T folded(std::array<T, sum_lanes>& lanes) {
  for (std::size_t width = sum_lanes / 2; width > 0; width /= 2) {
    for (std::size_t lane = 0; lane < width; ++lane) lanes[lane] += lanes[lane + width];
  }
  return lanes[0];
}

/// The next lanes of a row of which `left` elements are left. +0 fills up: it adds nothing to a lane, which started
/// with +0 and so never is -0.
FP4PROOF_INLINE void load_left(const float* from, std::int64_t left, FloatLanes& lanes) {
  if (left >= lane_count) {
    std::memcpy(&lanes, from, sizeof lanes);
  } else {
    lanes = FloatLanes{};
    if (left > 0) std::memcpy(&lanes, from, static_cast<std::size_t>(left) * sizeof(float));
  }
}

/// RS of `count` terms; load(i, left, lanes) gives terms i, i + 1, ... of which `left` exist, +0 for the others.
template <class Load>
FP4PROOF_INLINE float row_sum_of(std::int64_t count, Load load) {
  float total = 0.0F;
  for (std::int64_t first = 0; first < count; first += sum_segment) {
    const std::int64_t last = std::min(count, first + sum_segment);
    FloatLanes low = {};
    FloatLanes high = {};
    FloatLanes terms;
    for (std::int64_t i = first; i < last; i += sum_lanes) {
      load(i, last - i, terms);
      low += terms;
      if (last - i <= lane_count) break;
      load(i + lane_count, last - i - lane_count, terms);
      high += terms;
    }
    std::array<float, sum_lanes> lanes;
    std::memcpy(lanes.data(), &low, sizeof low);
    std::memcpy(lanes.data() + lane_count, &high, sizeof high);
    const float sum = folded(lanes);
    total = first == 0 ? sum : total + sum;
  }
  return total;
}

FP4PROOF_INLINE float row_sum(const float* x, std::int64_t count) {
  return row_sum_of(count,
                    [x](std::int64_t i, std::int64_t left, FloatLanes& lanes) { load_left(x + i, left, lanes); });
}

/// RS of RN(a_i b_i).
FP4PROOF_INLINE float row_sum_of_products(const float* a, const float* b, std::int64_t count) {
  return row_sum_of(count, [a, b](std::int64_t i, std::int64_t left, FloatLanes& lanes) {
    FloatLanes factors;
    load_left(a + i, left, lanes);
    load_left(b + i, left, factors);
    lanes *= factors;
  });
}

}  // namespace fp4proof::portable::training
