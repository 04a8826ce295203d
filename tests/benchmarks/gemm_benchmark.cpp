// Speed of the block GEMM, in 2 M N K operations a second and core. Everything between quantized operands and C is
// timed, the unpacking of the operands included.
#include <benchmark/benchmark.h>
#include <omp.h>

#include <algorithm>
#include <cstdint>
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

/// Operations a second, divided among the threads.
void count_operations(benchmark::State& state, std::int64_t size, int threads) {
  const auto operations = 2.0 * static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size);
  state.counters["flops_per_core"] =
      benchmark::Counter(operations / threads, benchmark::Counter::kIsIterationInvariantRate);
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
  count_operations(state, size, threads);
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
  count_operations(state, size, threads);
}

void add(const char* a, const char* b, Accumulator accumulator, std::int64_t size, int threads) {
  const std::string name = std::string(a) + (std::string(a) == b ? "" : std::string(" x ") + b) + " " +
                           std::string(name_of(accumulator)) + " " + std::to_string(size) +
                           "^3 threads:" + std::to_string(threads);
  benchmark::RegisterBenchmark(
      name.c_str(),
      [=](benchmark::State& state) { run_gemm(state, *find_profile(a), *find_profile(b), accumulator, size, threads); })
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

void add_all() {
  const int all_threads = omp_get_max_threads();
  for (const char* profile : {"mxfp4/ocp", "hif4/gcc"}) {
    add(profile, profile, Accumulator::seq512, 1024, 1);
    if (all_threads > 1) add(profile, profile, Accumulator::seq512, 1024, all_threads);
  }
  for (const char* profile :
       {"nvfp4/direct", "hifx5/gcc", "mxfp6-e2m3/ocp", "mxfp6-e3m2/ocp", "mxfp8-e4m3/ocp", "mxfp8-e5m2/ocp"})
    add(profile, profile, Accumulator::seq512, 512, 1);
  add("mxfp4/ocp", "mxfp8-e4m3/ocp", Accumulator::seq512, 512, 1);
  for (const char* profile : {"mxfp4/ocp", "hif4/gcc"}) {
    for (const Accumulator accumulator :
         {Accumulator::seq, Accumulator::exact, Accumulator::tc_hopper_fp16, Accumulator::tc_hopper_fp8})
      add(profile, profile, accumulator, 256, 1);
  }
  add("mxfp4/ocp", "mxfp4/ocp", Accumulator::tc_blackwell_mxf8f6f4, 256, 1);
  add("mxfp4/ocp", "mxfp4/ocp", Accumulator::tc_blackwell_mxf4, 256, 1);
  for (const int threads : {1, all_threads}) {
    if (threads == 1 || all_threads > 1) {
      const std::string name = "bf16 1024^3 threads:" + std::to_string(threads);
      benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { run_bf16(state, 1024, threads); })
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
      if (all_threads == 1) break;
    }
  }
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
