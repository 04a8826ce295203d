#pragma once
// Work on independent items, shared out among threads where it is worth waking them.

#include <omp.h>

#include <cstdint>

namespace fp4proof::portable::training {

/// Calls run(first, last) for ranges that cover the items 0 ... count - 1. An item must not depend on another. `cost`
/// is the number of simple operations an item; below some ten microseconds in all one thread does everything.
template <class Run>
void in_ranges(std::int64_t count, std::int64_t cost, Run run) {
  constexpr std::int64_t worth_waking = 1 << 16;
  if (count < 2 || count * cost < worth_waking) {
    if (count > 0) run(std::int64_t{0}, count);
    return;
  }
#pragma omp parallel
  {
    const std::int64_t threads = omp_get_num_threads();
    const std::int64_t thread = omp_get_thread_num();
    const std::int64_t first = count * thread / threads;
    const std::int64_t last = count * (thread + 1) / threads;
    if (first < last) run(first, last);
  }
}

}  // namespace fp4proof::portable::training
