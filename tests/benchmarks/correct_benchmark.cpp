// Cost of correct() in units of quantize() of the same bfloat16 tensor under the same profile: both are measured in
// turn, on one thread, after one warm-up run each. `times_quantize` is the quotient of the two medians; the aim for
// `resq` is at most 2.5.
#include <benchmark/benchmark.h>
#include <omp.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/philox.h"
#include "formats/spec_profiles.h"
#include "reference/portable/correct.h"
#include "tests/benchmarks/benchmarks.h"

namespace fp4proof::portable {
namespace {

constexpr std::int64_t rows = 2048;
constexpr std::int64_t columns = 4096;
constexpr std::int64_t elements = rows * columns;
constexpr int measurements = 9;

/// Normal numbers as bfloat16, repeated to fill the tensor.
std::vector<std::uint16_t> make_input() {
  constexpr std::size_t period = 1U << 20;
  std::vector<std::uint16_t> input(static_cast<std::size_t>(elements));
  for (std::size_t i = 0; i < input.size(); ++i) {
    input[i] = i < period ? float_to_bf16(random_normal(1, Stream::cases, 0, i)) : input[i - period];
  }
  return input;
}

void run(benchmark::State& state, const Profile& profile, const CorrectionStack& stack) {
  omp_set_num_threads(1);
  static const std::vector<std::uint16_t> input = make_input();
  const std::int64_t shape[] = {rows, columns};
  const TensorView view = {DType::bf16, shape, std::as_bytes(std::span(input)).data()};
  const auto correct_all = [&] {
    auto corrected = correct(profile, stack, view);
    if (!corrected) state.SkipWithError(corrected.error().message.c_str());
    benchmark::DoNotOptimize(corrected);
  };
  const auto quantize_all = [&] {
    auto quantized = quantize(profile, view);
    if (!quantized) state.SkipWithError(quantized.error().message.c_str());
    benchmark::DoNotOptimize(quantized);
  };
  const auto [work, reference] =
      benchmarks::measure_in_turn(state, benchmarks::Clock::processor, correct_all, quantize_all);
  state.counters["quantize_ns"] = 1e9 * reference / elements;
  state.counters["correct_ns"] = 1e9 * work / elements;
  state.counters["times_quantize"] = work / reference;
}

void add(const char* profile, const char* stack) {
  const std::string name = std::string("correct ") + profile + " " + stack;
  benchmark::RegisterBenchmark(
      name.c_str(), [=](benchmark::State& state) { run(state, *find_profile(profile), *find_correction_stack(stack)); })
      ->UseManualTime()
      ->Iterations(measurements)
      ->Unit(benchmark::kMillisecond);
}

}  // namespace
}  // namespace fp4proof::portable

void fp4proof::benchmarks::add_all() {
  using fp4proof::portable::add;
  for (const char* profile : {"mxfp4/rceil", "hif4/gcc"}) {
    for (const char* stack : {"resq", "fallback", "hadamard-16", "hadamard-64", "hadamard-16+resq", "sr"}) {
      add(profile, stack);
    }
  }
  for (const char* stack : {"mbs", "mbs+resq", "tile-32"}) add("mxfp4/rceil", stack);
  for (const char* stack : {"three-quarters-rn", "three-quarters"}) add("mxfp4/ocp", stack);
  add("mxfp8-e4m3/ocp", "resq");
}
