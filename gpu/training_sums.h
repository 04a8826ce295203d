#pragma once
// The sums of docs/rules-training.md (T2, T4) by a warp: the 32 lanes of the rule are the lanes of the warp.

#include <cstdint>

#include "gpu/training_launch.h"

namespace fp4proof::gpu::training {

inline constexpr std::int64_t segment = 4096;
inline constexpr unsigned all_lanes = 0xFFFFFFFFU;

/// The fold of T2. Lane 0 holds the sum, the others hold nothing of use.
template <class Number>
__device__ Number fold_lanes(Number mine) {
#pragma unroll
  for (int width = lanes / 2; width > 0; width /= 2) mine += __shfl_down_sync(all_lanes, mine, width);
  return mine;
}

/// T2 over term(0) ... term(count - 1); every lane gets it. No terms: +0.
template <class Number = float, class Term>
__device__ Number row_sum(std::int64_t count, int lane, const Term& term) {
  Number total = 0;
  for (std::int64_t first = 0; first < count; first += segment) {
    const std::int64_t end = first + segment < count ? first + segment : count;
    Number mine = 0;
#pragma unroll 4
    for (std::int64_t i = first + lane; i < end; i += lanes) mine += term(i);
    const Number sum = fold_lanes(mine);
    total = first == 0 ? sum : total + sum;
  }
  return __shfl_sync(all_lanes, total, 0);
}

/// T4 over term(0) ... term(count - 1), by one thread.
template <class Term>
__device__ float sequential_sum(std::int64_t count, const Term& term) {
  float sum = 0.0F;
#pragma unroll 8
  for (std::int64_t i = 0; i < count; ++i) sum += term(i);
  return sum;
}

}  // namespace fp4proof::gpu::training
