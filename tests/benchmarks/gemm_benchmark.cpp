// Speed of the block GEMM, in 2 M N K operations a second and core. Everything between quantized operands and C is
// timed, the unpacking of the operands and the memory of C included.
#include <benchmark/benchmark.h>
#include <omp.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "formats/philox.h"
#include "formats/spec_profiles.h"
#include "reference/portable/gemm.h"

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

void add_all() {
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
}

}  // namespace
}  // namespace fp4proof::portable

int main(int argc, char** argv) {
  fp4proof::portable::add_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
