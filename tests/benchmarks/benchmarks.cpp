#include "tests/benchmarks/benchmarks.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <vector>

namespace fp4proof::benchmarks {

namespace {

double seconds(Clock clock) {
  if (clock == Clock::processor) return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double seconds_of(Clock clock, const std::function<void()>& work) {
  const double start = seconds(clock);
  work();
  return seconds(clock) - start;
}

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace

Medians measure_in_turn(benchmark::State& state, Clock clock, const std::function<void()>& work,
                        const std::function<void()>& reference) {
  work();
  reference();
  std::vector<double> work_times;
  std::vector<double> reference_times;
  for (auto _ : state) {
    work_times.push_back(seconds_of(clock, work));
    reference_times.push_back(seconds_of(clock, reference));
    state.SetIterationTime(work_times.back());
  }
  return {median(work_times), median(reference_times)};
}

}  // namespace fp4proof::benchmarks

int main(int argc, char** argv) {
  fp4proof::benchmarks::add_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
