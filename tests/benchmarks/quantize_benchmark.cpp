// Speed of quantize_rows and dequantize_rows on 64 Mi binary32 elements, against the time that the same threads need to
// read the input bytes and write the output bytes. Both are measured in turn, on the same buffers, after one warm-up
// run each. `share_of_copy` is the median of that time divided by the median of ours: 1 is the speed of memory.
#include <benchmark/benchmark.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "formats/philox.h"
#include "formats/spec_profiles.h"
#include "reference/portable/dequantize.h"
#include "reference/portable/quantize.h"
#include "reference/portable/vectorize.h"
#include "tests/benchmarks/benchmarks.h"

namespace fp4proof::portable {
namespace {

constexpr std::int64_t rows = 8192;
constexpr std::int64_t columns = 8192;
constexpr int measurements = 9;

/// A mebi of normal numbers, repeated to fill the tensor.
std::vector<float> make_input() {
  constexpr std::size_t period = 1U << 20;
  std::vector<float> values(static_cast<std::size_t>(rows * columns));
  for (std::size_t i = 0; i < period; ++i) values[i] = random_normal(1, Stream::cases, 0, i);
  for (std::size_t i = period; i < values.size(); i += period)
    std::copy_n(values.begin(), period, values.begin() + static_cast<std::ptrdiff_t>(i));
  return values;
}

/// Reads every byte of `in` and writes every byte of `out`, the two in step. What is written depends on all that was
/// read, so neither can be left out.
FP4PROOF_CLONES void copy_row(const std::byte* in, std::size_t in_size, std::byte* out, std::size_t out_size) {
  using Line = std::array<std::uint64_t, 8>;
  Line folded{};
  std::size_t read = 0;
  for (std::size_t written = 0; written < out_size; written += sizeof(Line)) {
    const std::size_t due = std::min((written + sizeof(Line)) * in_size / out_size, in_size);
    for (; read + sizeof(Line) <= due; read += sizeof(Line)) {
      Line line;
      std::memcpy(&line, in + read, sizeof line);
      for (std::size_t i = 0; i < line.size(); ++i) folded[i] ^= line[i];
    }
    std::memcpy(out + written, &folded, std::min(sizeof(Line), out_size - written));
  }
}

/// copy_row over all bytes, cut into as many rows as the tensor has.
void copy_pass(std::span<const std::byte> input, std::span<std::byte> output) {
  const std::size_t in_size = input.size() / rows;
  const std::size_t out_size = output.size() / rows;
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto r = static_cast<std::size_t>(row);
    copy_row(input.data() + r * in_size, in_size, output.data() + r * out_size, out_size);
  }
  benchmark::DoNotOptimize(output.data());
  benchmark::ClobberMemory();
}

/// Measures `work` and `copy` in turn and reports both.
void measure(benchmark::State& state, std::size_t bytes, const std::function<void()>& work,
             const std::function<void()>& copy) {
  const auto medians = benchmarks::measure_in_turn(state, benchmarks::Clock::wall, work, copy);
  state.counters["median_ms"] = 1e3 * medians.work;
  state.counters["copy_ms"] = 1e3 * medians.reference;
  state.counters["share_of_copy"] = medians.reference / medians.work;
  state.counters["bytes_per_s"] = static_cast<double>(bytes) / medians.work;
}

/// The buffers of one profile; codes and scales share one allocation so that a copy can write both.
struct Buffers {
  Geometry geometry;
  std::vector<std::byte> packed;

  Buffers(const Profile& profile, std::span<const std::int64_t> shape)
      : geometry(*geometry_of_quantized(profile, shape, 1)),
        packed(static_cast<std::size_t>(geometry.code_bytes() + geometry.scale_bytes())) {}

  std::span<std::uint8_t> codes() {
    return {reinterpret_cast<std::uint8_t*>(packed.data()), static_cast<std::size_t>(geometry.code_bytes())};
  }
  std::span<std::uint8_t> scales() {
    return {codes().data() + codes().size(), static_cast<std::size_t>(geometry.scale_bytes())};
  }
};

enum class Direction { quantize, dequantize };

void run(benchmark::State& state, const Profile& profile, Direction direction, int threads) {
  static const std::vector<float> values = make_input();
  static std::vector<float> decoded(values.size());
  omp_set_num_threads(threads);
  const std::int64_t shape[] = {rows, columns};
  Buffers buffers(profile, shape);
  const std::span<const std::byte> input = std::as_bytes(std::span(values));
  const TensorView view = {DType::f32, shape, input.data()};
  const auto quantize_all = [&] {
    if (!quantize_rows(profile, view, buffers.geometry, {}, 1.0F, 0, rows, buffers.codes(), buffers.scales()))
      state.SkipWithError("the profile refuses the input");
  };
  if (direction == Direction::quantize) {
    measure(state, input.size() + buffers.packed.size(), quantize_all, [&] { copy_pass(input, buffers.packed); });
    return;
  }
  // The copy reads the packed bytes and never writes them, so that every run decodes the same codes.
  quantize_all();
  measure(
      state, input.size() + buffers.packed.size(),
      [&] { dequantize_rows(profile, buffers.geometry, 1.0F, rows, buffers.codes(), buffers.scales(), decoded); },
      [&] { copy_pass(buffers.packed, std::as_writable_bytes(std::span(decoded))); });
}

void add(const char* profile, Direction direction, int threads) {
  const char* verb = direction == Direction::quantize ? "quantize " : "dequantize ";
  const std::string name = std::string(verb) + profile + " threads:" + std::to_string(threads);
  benchmark::RegisterBenchmark(name.c_str(),
                               [=](benchmark::State& state) { run(state, *find_profile(profile), direction, threads); })
      ->UseManualTime()
      ->Iterations(measurements)
      ->Unit(benchmark::kMillisecond);
}

void add_all_profiles() {
  const int all_threads = omp_get_max_threads();
  std::vector<int> thread_counts = {1};
  if (all_threads > 1) thread_counts.push_back(all_threads);
  for (const int threads : thread_counts) {
    for (const char* profile :
         {"mxfp4/ocp", "hif4/gcc", "mxfp8-e4m3/ocp", "nvfp4/direct", "mxfp4/rceil-sr", "hif4/gcc-sr"})
      add(profile, Direction::quantize, threads);
    for (const char* profile : {"mxfp4/ocp", "hif4/gcc", "mxfp8-e4m3/ocp", "nvfp4/direct"})
      add(profile, Direction::dequantize, threads);
  }
}

}  // namespace
}  // namespace fp4proof::portable

void fp4proof::benchmarks::add_all() { portable::add_all_profiles(); }
