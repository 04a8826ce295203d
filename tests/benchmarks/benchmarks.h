#pragma once
// What the benchmark programs share.

#include <benchmark/benchmark.h>

#include <functional>

namespace fp4proof::benchmarks {

/// Registers the benchmarks of the program; main() calls it once.
void add_all();

/// Time as it passes, or as the processor spends it on this program, summed over its threads.
enum class Clock { wall, processor };

struct Medians {
  double work;       ///< seconds
  double reference;  ///< seconds
};

/// Runs `work` and `reference` in turn, once to warm up and then once an iteration of `state`, whose manual time is
/// that of `work`. Taking turns keeps the ratio steady on a machine that does other things too.
Medians measure_in_turn(benchmark::State& state, Clock clock, const std::function<void()>& work,
                        const std::function<void()>& reference);

}  // namespace fp4proof::benchmarks
