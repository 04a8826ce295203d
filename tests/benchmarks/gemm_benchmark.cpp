// Speed of the block GEMM, in 2 M N K operations a second and core. Everything between quantized operands and C is
// timed, the unpacking of the operands and the memory of C included. Corrected operands take turns with the plain
// product of the same shape: `times_plain` is the median processor time over its median.
#include <benchmark/benchmark.h>
#include <omp.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "formats/philox.h"
#include "formats/spec_profiles.h"
#include "reference/portable/correct.h"
#include "reference/portable/gemm.h"
#include "tests/benchmarks/benchmarks.h"

namespace fp4proof::portable {
namespace {

constexpr std::uint64_t seed = 7;

std::vector<float> normals(std::int64_t count, std::uint32_t step) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(random_normal(seed, Stream::cases, step, static_cast<std::uint64_t>(i)));
  return values;
}

Quantized operand(const Profile& profile, std::int64_t size, std::uint32_t step) {
  const std::vector<float> values = normals(size * size, step);
  const std::int64_t shape[] = {size, size};
  const TensorView view = {DType::f32, shape, std::as_bytes(std::span(values)).data()};
  return *quantize(profile, view, {.seed = seed});
}

/// Operations in each second of processor time, summed over the threads: the rate of one core, whatever else runs.
void count_operations(benchmark::State& state, std::int64_t size) {
  const auto n = static_cast<double>(size);
  state.counters["flops_per_core"] = benchmark::Counter(2 * n * n * n, benchmark::Counter::kIsIterationInvariantRate);
}

void run_gemm(benchmark::State& state, const Profile& profile_a, const Profile& profile_b, Accumulator accumulator,
              std::int64_t size, int threads) {
  const Quantized a = operand(profile_a, size, 0);
  const Quantized b = operand(profile_b, size, 1);
  omp_set_num_threads(threads);
  for (auto _ : state) {
    auto c = gemm(profile_a, a, profile_b, b, accumulator);
    if (!c) {
      state.SkipWithError(c.error().message.c_str());
      return;
    }
    benchmark::DoNotOptimize(c->data());
  }
  count_operations(state, size);
}

void run_bf16(benchmark::State& state, std::int64_t size, int threads) {
  std::vector<std::uint16_t> a;
  std::vector<std::uint16_t> b;
  for (const float value : normals(size * size, 0)) a.push_back(float_to_bf16(value));
  for (const float value : normals(size * size, 1)) b.push_back(float_to_bf16(value));
  omp_set_num_threads(threads);
  for (auto _ : state) {
    auto c = gemm_bf16(a, b, size, size, size);
    benchmark::DoNotOptimize(c->data());
  }
  count_operations(state, size);
}

Corrected corrected_operand(const Profile& profile, const CorrectionStack& stack, std::int64_t size,
                            std::uint32_t step) {
  const std::vector<float> values = normals(size * size, step);
  const std::int64_t shape[] = {size, size};
  return *correct(profile, stack, {DType::f32, shape, std::as_bytes(std::span(values)).data()});
}

/// A under the stack and B under what both sides share of it, against the product of plain operands.
void run_corrected(benchmark::State& state, const Profile& profile, const CorrectionStack& stack,
                   Accumulator accumulator, std::int64_t size) {
  const CorrectionStack& none = *find_correction_stack("none");
  const Corrected a = corrected_operand(profile, stack, size, 0);
  const Corrected b = corrected_operand(profile, stack.without_residual(), size, 1);
  const Corrected plain_a = corrected_operand(profile, none, size, 0);
  const Corrected plain_b = corrected_operand(profile, none, size, 1);
  omp_set_num_threads(1);
  const auto multiply = [&](const Corrected& x, const Corrected& y) {
    auto c = gemm(x, y, accumulator);
    if (!c) return state.SkipWithError(c.error().message.c_str());
    benchmark::DoNotOptimize(c->data());
  };
  const auto medians = benchmarks::measure_in_turn(
      state, benchmarks::Clock::processor, [&] { multiply(a, b); }, [&] { multiply(plain_a, plain_b); });
  state.counters["median_ms"] = 1e3 * medians.work;
  state.counters["plain_ms"] = 1e3 * medians.reference;
  state.counters["times_plain"] = medians.work / medians.reference;
}

void add(const std::string& what, std::int64_t size, int threads,
         const std::function<void(benchmark::State&)>& function) {
  const std::string name = what + " " + std::to_string(size) + "^3 threads:" + std::to_string(threads);
  benchmark::RegisterBenchmark(name.c_str(), function)->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);
}

void add_gemm(const std::string& a, const std::string& b, Accumulator accumulator, std::int64_t size, int threads) {
  const std::string operands = a == b ? a : a + " x " + b;
  add(operands + " " + std::string(name_of(accumulator)), size, threads, [=](benchmark::State& state) {
    run_gemm(state, *find_profile(a), *find_profile(b), accumulator, size, threads);
  });
}

void add_corrected(const std::string& profile, const std::string& stack, Accumulator accumulator, std::int64_t size) {
  const std::string name =
      profile + " " + stack + " " + std::string(name_of(accumulator)) + " " + std::to_string(size) + "^3 threads:1";
  const auto function = [=](benchmark::State& state) {
    run_corrected(state, *find_profile(profile), *find_correction_stack(stack), accumulator, size);
  };
  benchmark::RegisterBenchmark(name.c_str(), function)->UseManualTime()->Iterations(15)->Unit(benchmark::kMillisecond);
}

void add_all_products() {
  std::vector<int> thread_counts = {1};
  if (omp_get_max_threads() > 1) thread_counts.push_back(omp_get_max_threads());
  for (const int threads : thread_counts) {
    for (const char* profile : {"mxfp4/ocp", "hif4/gcc"})
      add_gemm(profile, profile, Accumulator::seq512, 1024, threads);
    add("bf16", 1024, threads, [=](benchmark::State& state) { run_bf16(state, 1024, threads); });
  }
  for (const char* profile :
       {"nvfp4/direct", "hifx5/gcc", "mxfp6-e2m3/ocp", "mxfp6-e3m2/ocp", "mxfp8-e4m3/ocp", "mxfp8-e5m2/ocp"})
    add_gemm(profile, profile, Accumulator::seq512, 512, 1);
  add_gemm("mxfp4/ocp", "mxfp8-e4m3/ocp", Accumulator::seq512, 512, 1);
  for (const char* profile : {"mxfp4/ocp", "hif4/gcc"}) {
    for (const Accumulator accumulator :
         {Accumulator::seq, Accumulator::exact, Accumulator::tc_hopper_fp16, Accumulator::tc_hopper_fp8})
      add_gemm(profile, profile, accumulator, 256, 1);
  }
  for (const Accumulator accumulator : {Accumulator::tc_blackwell_mxf8f6f4, Accumulator::tc_blackwell_mxf4})
    add_gemm("mxfp4/ocp", "mxfp4/ocp", accumulator, 256, 1);
  for (const char* stack : {"mbs", "mbs-32", "resq", "rfq", "mbs+resq", "tile-8"})
    add_corrected("mxfp4/rceil", stack, Accumulator::seq512, 1024);
  add_corrected("mxfp4/rceil", "mbs", Accumulator::exact, 256);
  add_corrected("hif4/gcc", "resq", Accumulator::seq512, 1024);
}

}  // namespace
}  // namespace fp4proof::portable

void fp4proof::benchmarks::add_all() { portable::add_all_products(); }
