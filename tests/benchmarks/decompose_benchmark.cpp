// Cost of decompose_rows, row sums alone, in units of quantize_rows of the same tensor: both are measured in turn, on
// one thread, after one warm-up run each. `times_quantize` is the quotient of the two medians; the aim is at most 4.
#include <benchmark/benchmark.h>
#include <omp.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "formats/philox.h"
#include "formats/spec_profiles.h"
#include "reference/portable/decompose.h"
#include "reference/portable/quantize.h"
#include "tests/benchmarks/benchmarks.h"

namespace fp4proof::portable {
namespace {

constexpr std::int64_t rows = 2048;
constexpr std::int64_t columns = 4096;
constexpr std::int64_t elements = rows * columns;
constexpr int measurements = 9;

/// Normal numbers, repeated to fill the tensor; rounded to bfloat16 and kept as such, or kept as binary32.
std::vector<std::byte> make_input(DType dtype) {
  constexpr std::size_t period = 1U << 20;
  std::vector<float> normals(period);
  for (std::size_t i = 0; i < period; ++i) normals[i] = random_normal(1, Stream::cases, 0, i);
  std::vector<std::byte> input(static_cast<std::size_t>(elements * bytes_of(dtype)));
  for (std::size_t i = 0; i < static_cast<std::size_t>(elements); ++i) {
    const float value = normals[i % period];
    const std::uint16_t half = float_to_bf16(value);
    if (dtype == DType::bf16) std::memcpy(input.data() + 2 * i, &half, sizeof half);
    if (dtype == DType::f32) std::memcpy(input.data() + 4 * i, &value, sizeof value);
  }
  return input;
}

void run(benchmark::State& state, const Profile& profile, DType dtype) {
  omp_set_num_threads(1);
  const std::vector<std::byte> input = make_input(dtype);
  const std::int64_t shape[] = {rows, columns};
  const TensorView view = {dtype, shape, input.data()};
  const Geometry geometry = *cut_into_blocks(profile, shape, -1, Tail::error);
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(geometry.code_bytes()));
  std::vector<std::uint8_t> scales(static_cast<std::size_t>(geometry.scale_bytes()));
  std::vector<ErrorSplit> sums(static_cast<std::size_t>(rows));
  const auto check = [&](const Result<void>& done) {
    if (!done) state.SkipWithError("the profile refuses the input");
  };
  const auto decompose_all = [&] {
    check(decompose_rows(profile, view, geometry, {}, 1.0F, 0, rows, {}, {.rows = sums}));
  };
  const auto quantize_all = [&] { check(quantize_rows(profile, view, geometry, {}, 1.0F, 0, rows, codes, scales)); };
  const auto [work, reference] =
      benchmarks::measure_in_turn(state, benchmarks::Clock::processor, decompose_all, quantize_all);
  state.counters["quantize_ns"] = 1e9 * reference / elements;
  state.counters["decompose_ns"] = 1e9 * work / elements;
  state.counters["times_quantize"] = work / reference;
}

void add_all_profiles() {
  for (const char* profile : {"mxfp4/ocp", "mxfp4/rceil", "hif4/gcc", "nvfp4/direct", "mxfp8-e4m3/ocp"}) {
    for (const DType dtype : {DType::bf16, DType::f32}) {
      const std::string name = std::string("decompose ") + profile + (dtype == DType::bf16 ? " bf16" : " f32");
      benchmark::RegisterBenchmark(name.c_str(),
                                   [=](benchmark::State& state) { run(state, *find_profile(profile), dtype); })
          ->UseManualTime()
          ->Iterations(measurements)
          ->Unit(benchmark::kMillisecond);
    }
  }
}

}  // namespace
}  // namespace fp4proof::portable

void fp4proof::benchmarks::add_all() { portable::add_all_profiles(); }
