// The price of determinism: reductions of a training step in the fixed order of docs/rules-training.md, as the launch
// functions of gpu/ do them, beside the usual kernels whose sums meet in atomicAdd, in whatever order threads arrive.
// Run it on a GPU that is otherwise idle.
//
//     bench_determinism [--runs N] [--only TEXT] [--json FILE]
//
// Times are medians of CUDA events and include the zeroing of what atomicAdd adds to. Each side then runs 20 times, and
// `results` is how many of the 20 differ in bits: it must be 1 for the fixed order, else the exit code is 1. `apart` is
// the largest difference of the two sides over the largest number. Matrices have the shapes of the presets mid and gpu.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "formats/philox.h"
#include "gpu/gemm_bf16.h"
#include "gpu/launch.h"
#include "gpu/training_elements.h"
#include "gpu/training_launch.h"
#include "gpu/training_rows.h"
#include "gpu/training_sums.h"
#include "gpu/training_weights.h"
#include "tests/gpu/bench_options.h"
#include "tests/gpu/timing.h"

namespace fp4proof::gpu {
namespace {

using namespace training;

/// A preset of docs/training.md, and the shape of its update.
struct Preset {
  const char* name;
  std::int64_t sequences;
  std::int64_t width;
  std::int64_t layers;
  std::int64_t feed_forward;
  std::int64_t experts;
  std::int64_t vocabulary;

  static constexpr std::int64_t positions = 12;
  std::int64_t rows() const { return sequences * positions; }
  /// Numbers that are trained, but for norms and positions.
  std::int64_t parameters() const {
    const std::int64_t feed_forward_parts = std::max(experts, std::int64_t{1});
    const std::int64_t layer = 4 * width * width + feed_forward_parts * 3 * width * feed_forward + experts * width;
    return layers * layer + 2 * vocabulary * width;
  }
};

constexpr Preset presets[] = {{"mid", 2048, 128, 4, 256, 0, 32}, {"gpu", 4096, 512, 6, 1536, 8, 64}};

// ---------------------------------------------------------------------------------------------------------------------
// Free order
// ---------------------------------------------------------------------------------------------------------------------

constexpr unsigned most_blocks = 1024;
constexpr std::int64_t norm_blocks = 264;  ///< two for each multiprocessor of an H200

__global__ void __launch_bounds__(threads_per_block) add_squares(const float* x, std::int64_t count, double* sum) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  double mine = 0.0;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    mine += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  }
  mine = fold_lanes(mine);
  if (threadIdx.x % lanes == 0) atomicAdd(sum, mine);
}

void free_sum_squares(const fp4proof_sum_squares_call& call) {
  require(cudaMemsetAsync(call.sum, 0, sizeof(double)));
  add_squares<<<std::min(grid_for(call.count, threads_per_block), most_blocks), threads_per_block>>>(call.x, call.count,
                                                                                                     call.sum);
  require_ok(launch_status());
}

/// dx of a row and its part of the weight gradient by one warp, which keeps the sums of its columns over all its rows.
struct FreeNormBackward {
  static constexpr int most_columns = 512;

  fp4proof_rms_norm_backward_call call;
  std::int64_t warps;
  __device__ void operator()(std::int64_t warp, int lane, float* /*shared*/) const {
    float sums[most_columns / lanes] = {};
    for (std::int64_t row = warp; row < call.rows; row += warps) {
      const float* const x = call.x + row * call.columns;
      const float* const dy = call.dy + row * call.columns;
      float* const dx = call.dx + row * call.columns;
      const float inverse = call.inverse[row];
      const auto h = [&](std::int64_t c) { return dy[c] * call.weight[c]; };
      const float sum = row_sum(call.columns, lane, [&](std::int64_t c) { return h(c) * x[c]; });
      const float correction = norm_correction(sum, inverse, static_cast<float>(call.columns));
#pragma unroll
      for (int i = 0; i < most_columns / lanes; ++i) {
        const std::int64_t c = i * lanes + lane;
        if (c >= call.columns) break;
        dx[c] = h(c) * inverse - x[c] * correction;
        sums[i] += dy[c] * (x[c] * inverse);
      }
    }
#pragma unroll
    for (int i = 0; i < most_columns / lanes; ++i) {
      const std::int64_t c = i * lanes + lane;
      if (c < call.columns) atomicAdd(call.weight_gradient + c, sums[i]);
    }
  }
};

void free_norm_backward(const fp4proof_rms_norm_backward_call& call) {
  constexpr std::int64_t warps = norm_blocks * threads_per_block / lanes;
  require(cudaMemsetAsync(call.weight_gradient, 0, static_cast<std::size_t>(call.columns) * sizeof(float)));
  require_ok(launch_warps(warps, FreeNormBackward{call, warps}, nullptr));
}

struct FreeEmbedBackward {
  fp4proof_embed_backward_call call;
  __device__ void operator()(std::int64_t row, std::int64_t column) const {
    atomicAdd(call.table_gradient + call.indices[row] * call.columns + column, call.dy[row * call.columns + column]);
  }
};

void free_embed_backward(const fp4proof_embed_backward_call& call) {
  const auto bytes = static_cast<std::size_t>(call.entries * call.columns) * sizeof(float);
  require(cudaMemsetAsync(call.table_gradient, 0, bytes));
  require_ok(launch_places(call.rows, call.columns, FreeEmbedBackward{call}, nullptr));
}

constexpr int tile = 64;       ///< rows and columns of C that a block of threads computes
constexpr int depth = 32;      ///< elements of k in shared memory at a time
constexpr int unit = 8;        ///< elements of k that a thread fetches of each side
constexpr int per_thread = 4;  ///< rows of a thread, columns of a thread
static_assert(tile * depth == threads_per_block * unit && tile / per_thread * (tile / per_thread) == threads_per_block);

using Stage = float[depth][tile + 4];

/// Elements of `tile` lines of k elements, transposed.
__device__ void load_stage(const std::uint16_t* lines, std::int64_t k, Stage& stage) {
  const int line = static_cast<int>(threadIdx.x) * unit / depth;
  const int first = static_cast<int>(threadIdx.x) * unit % depth;
  const uint4 words = *reinterpret_cast<const uint4*>(lines + line * k + first);
  const std::uint32_t pairs[] = {words.x, words.y, words.z, words.w};
#pragma unroll
  for (int i = 0; i < unit; i += 2) {
    stage[first + i][line] = float_from_bits(pairs[i / 2] << 16);
    stage[first + i + 1][line] = float_from_bits(pairs[i / 2] & 0xFFFF0000U);
  }
}

/// A tile of C over `slice` elements of k, added to what the other slices make of it.
__global__ void __launch_bounds__(threads_per_block)
    multiply_slice(const __grid_constant__ GemmBf16Job job, std::int64_t slice) {
  __shared__ __align__(16) Stage a;
  __shared__ __align__(16) Stage b;
  const std::int64_t tiles_across = job.n / tile;
  const std::int64_t first_row = blockIdx.x / tiles_across * tile;
  const std::int64_t first_column = blockIdx.x % tiles_across * tile;
  const std::int64_t first_k = blockIdx.y * slice;
  const std::int64_t end = first_k + slice < job.k ? first_k + slice : job.k;
  const int row = static_cast<int>(threadIdx.x) / (tile / per_thread) * per_thread;
  const int column = static_cast<int>(threadIdx.x) % (tile / per_thread) * per_thread;
  float sums[per_thread][per_thread] = {};
  for (std::int64_t k = first_k; k < end; k += depth) {
    __syncthreads();
    load_stage(job.a + first_row * job.k + k, job.k, a);
    load_stage(job.b + first_column * job.k + k, job.k, b);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < depth; ++i) {
      const float4 left = *reinterpret_cast<const float4*>(&a[i][row]);
      const float4 right = *reinterpret_cast<const float4*>(&b[i][column]);
      const float lefts[] = {left.x, left.y, left.z, left.w};
      const float rights[] = {right.x, right.y, right.z, right.w};
#pragma unroll
      for (int r = 0; r < per_thread; ++r) {
#pragma unroll
        for (int c = 0; c < per_thread; ++c) sums[r][c] = __fmaf_rn(lefts[r], rights[c], sums[r][c]);
      }
    }
  }
#pragma unroll
  for (int r = 0; r < per_thread; ++r) {
#pragma unroll
    for (int c = 0; c < per_thread; ++c) {
      atomicAdd(job.c + (first_row + row + r) * job.n + first_column + column + c, sums[r][c]);
    }
  }
}

/// Split-K: so many slices that the tiles of all of them fill the device a few times.
void free_product(const GemmBf16Job& job) {
  constexpr std::int64_t blocks = 512;
  if (job.m % tile != 0 || job.n % tile != 0 || job.k % depth != 0) throw std::runtime_error("not whole tiles");
  const std::int64_t tiles = job.m / tile * (job.n / tile);
  const std::int64_t slice = ceil_div(ceil_div(job.k, std::max(blocks / tiles, std::int64_t{1})), depth) * depth;
  require(cudaMemsetAsync(job.c, 0, static_cast<std::size_t>(job.m * job.n) * sizeof(float)));
  const dim3 grid(static_cast<unsigned>(tiles), static_cast<unsigned>(ceil_div(job.k, slice)));
  multiply_slice<<<grid, threads_per_block>>>(job, slice);
  require_ok(launch_status());
}

// ---------------------------------------------------------------------------------------------------------------------
// What is compared
// ---------------------------------------------------------------------------------------------------------------------

struct Comparison {
  const char* operation;
  const char* preset;
  std::int64_t rows;
  std::int64_t columns;
  double fixed = 0;  ///< milliseconds
  double free = 0;
  std::size_t fixed_results = 0;  ///< of `repeats` runs
  std::size_t free_results = 0;
  double apart = 0;
};

constexpr int repeats = 20;

/// How many different results `repeats` runs leave in `output`.
template <class Number, class Launch>
std::size_t count_results(const DeviceArray<Number>& output, Launch launch) {
  const DeviceArray<std::uint64_t> digest_word(1);
  const auto words = static_cast<std::int64_t>(output.bytes() / sizeof(std::uint32_t));
  std::set<std::uint64_t> results;
  for (int i = 0; i < repeats; ++i) {
    launch();
    require_ok(digest({sizeof(fp4proof_digest_call), words, output.get(), digest_word.get()}, nullptr));
    results.insert(digest_word.values()[0]);
  }
  return results.size();
}

template <class Number>
double largest_difference(const std::vector<Number>& a, const std::vector<Number>& b) {
  double largest = 0;
  double difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    largest = std::max(largest, std::fabs(static_cast<double>(a[i])));
    difference = std::max(difference, std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return difference / largest;
}

/// `fixed` and `free` write `output`.
template <class Number, class Fixed, class Free>
void compare(Comparison& result, int runs, const DeviceArray<Number>& output, Fixed fixed, Free free) {
  result.fixed = median_milliseconds(runs, fixed);
  result.free = median_milliseconds(runs, free);
  result.fixed_results = count_results(output, fixed);
  const std::vector<Number> expected = output.values();
  result.free_results = count_results(output, free);
  result.apart = largest_difference(expected, output.values());
}

struct Normal {
  std::uint32_t step;
  float* values;
  __device__ void operator()(std::int64_t i) const {
    values[i] = random_normal(1, Stream::cases, step, static_cast<std::uint64_t>(i));
  }
};

struct NormalBf16 {
  std::uint32_t step;
  std::uint16_t* values;
  __device__ void operator()(std::int64_t i) const {
    values[i] = bf16_word(random_normal(1, Stream::cases, step, static_cast<std::uint64_t>(i)));
  }
};

struct RandomToken {
  std::int64_t vocabulary;
  std::int32_t* values;
  __device__ void operator()(std::int64_t i) const {
    const std::uint32_t word = random_word(1, Stream::cases, 0, static_cast<std::uint64_t>(i));
    values[i] = static_cast<std::int32_t>(word % vocabulary);
  }
};

struct Normals : DeviceArray<float> {
  Normals(std::int64_t count, std::uint32_t step) : DeviceArray(static_cast<std::size_t>(count)) {
    require_ok(launch_elements(count, Normal{step, get()}, nullptr));
  }
};

struct Bf16Normals : DeviceArray<std::uint16_t> {
  Bf16Normals(std::int64_t count, std::uint32_t step) : DeviceArray(static_cast<std::size_t>(count)) {
    require_ok(launch_elements(count, NormalBf16{step, get()}, nullptr));
  }
};

Comparison sum_of_squares(const Preset& preset, int runs) {
  const std::int64_t count = preset.parameters();
  Comparison result{"sum of squares", preset.name, 1, count};
  const Normals x(count, 1);
  const DeviceArray<double> sum(1);
  const fp4proof_sum_squares_call call{sizeof(call), count, x.get(), sum.get()};
  const DeviceArray<std::uint8_t> workspace(sum_squares_workspace(call));
  compare(
      result, runs, sum, [&] { require_ok(sum_squares(call, workspace.get(), workspace.bytes(), nullptr)); },
      [&] { free_sum_squares(call); });
  return result;
}

Comparison norm_backward(const Preset& preset, int runs) {
  const std::int64_t rows = preset.rows();
  const std::int64_t columns = preset.width;
  if (columns > FreeNormBackward::most_columns) throw std::runtime_error("too many columns");
  Comparison result{"rms_norm backward", preset.name, rows, columns};
  const Normals x(rows * columns, 1);
  const Normals weight(columns, 2);
  const Normals dy(rows * columns, 3);
  const DeviceArray<float> y(x.bytes() / sizeof(float));
  const DeviceArray<float> inverse(static_cast<std::size_t>(rows));
  require_ok(
      rms_norm({sizeof(fp4proof_rms_norm_call), rows, columns, x.get(), weight.get(), nullptr, y.get(), inverse.get()},
               nullptr));
  const DeviceArray<float> weight_gradient(static_cast<std::size_t>(columns));
  const fp4proof_rms_norm_backward_call call{sizeof(call), rows,          columns,  x.get(), weight.get(),
                                             nullptr,      inverse.get(), dy.get(), y.get(), weight_gradient.get()};
  compare(
      result, runs, weight_gradient, [&] { require_ok(rms_norm_backward(call, nullptr)); },
      [&] { free_norm_backward(call); });
  return result;
}

Comparison embedding_backward(const Preset& preset, int runs) {
  const std::int64_t rows = preset.rows();
  const std::int64_t columns = preset.width;
  Comparison result{"embedding backward", preset.name, rows, columns};
  const DeviceArray<std::int32_t> tokens(static_cast<std::size_t>(rows));
  require_ok(launch_elements(rows, RandomToken{preset.vocabulary, tokens.get()}, nullptr));
  const Normals dy(rows * columns, 1);
  const DeviceArray<float> gradient(static_cast<std::size_t>(preset.vocabulary * columns));
  const fp4proof_embed_backward_call call{sizeof(call), rows,     columns,       preset.vocabulary,
                                          tokens.get(), dy.get(), gradient.get()};
  compare(
      result, runs, gradient, [&] { require_ok(embed_backward(call, nullptr)); }, [&] { free_embed_backward(call); });
  return result;
}

Comparison weight_gradient(const Preset& preset, const char* operation, std::int64_t m, int runs) {
  const std::int64_t k = preset.rows();
  Comparison result{operation, preset.name, m, preset.width};
  const Bf16Normals dy(m * k, 1);
  const Bf16Normals x(preset.width * k, 2);
  const DeviceArray<float> dw(static_cast<std::size_t>(m * preset.width));
  const GemmBf16Job job{1, m, preset.width, k, dy.get(), x.get(), dw.get()};
  compare(
      result, runs, dw, [&] { require_ok(gemm_bf16(job, nullptr)); }, [&] { free_product(job); });
  return result;
}

Comparison projection_gradient(const Preset& preset, int runs) {
  return weight_gradient(preset, "dW of a projection", preset.width, runs);
}

Comparison feed_forward_gradient(const Preset& preset, int runs) {
  return weight_gradient(preset, "dW of feed-forward", preset.feed_forward, runs);
}

struct Case {
  const char* operation;
  Comparison (*compared)(const Preset& preset, int runs);
};

constexpr Case cases[] = {{"sum of squares", sum_of_squares},
                          {"rms_norm backward", norm_backward},
                          {"embedding backward", embedding_backward},
                          {"dW of a projection", projection_gradient},
                          {"dW of feed-forward", feed_forward_gradient}};

void report(std::FILE* json, const Comparison& c) {
  std::printf("%-20s %-6s %8lld x %-9lld %9.4f ms %9.4f ms %7.2f %5zu %5zu  %.1e\n", c.operation, c.preset,
              static_cast<long long>(c.rows), static_cast<long long>(c.columns), c.fixed, c.free, c.fixed / c.free,
              c.fixed_results, c.free_results, c.apart);
  std::fflush(stdout);
  if (json == nullptr) return;
  std::fprintf(json,
               "{\"operation\": \"%s\", \"preset\": \"%s\", \"rows\": %lld, \"columns\": %lld, "
               "\"fixed_milliseconds\": %.6f, \"free_milliseconds\": %.6f, \"ratio\": %.4f, \"runs\": %d, "
               "\"fixed_results\": %zu, \"free_results\": %zu, \"apart\": %.3e}\n",
               c.operation, c.preset, static_cast<long long>(c.rows), static_cast<long long>(c.columns), c.fixed,
               c.free, c.fixed / c.free, repeats, c.fixed_results, c.free_results, c.apart);
}

/// Whether every fixed order gave one result.
bool run(const BenchOptions& options) {
  std::FILE* const json = options.json == nullptr ? nullptr : std::fopen(options.json, "w");
  if (options.json != nullptr && json == nullptr) throw std::runtime_error(std::string("cannot write ") + options.json);
  std::printf("# %-18s %-6s %8s x %-9s %12s %12s %7s %11s  %s\n", "operation", "preset", "rows", "columns",
              "fixed order", "free order", "ratio", "results", "apart");
  bool sound = true;
  for (const Case& c : cases) {
    if (std::string_view(c.operation).find(options.only) == std::string_view::npos) continue;
    for (const Preset& preset : presets) {
      const Comparison result = c.compared(preset, options.runs);
      report(json, result);
      sound = sound && result.fixed_results == 1;
    }
  }
  if (json != nullptr && std::fclose(json) != 0) throw std::runtime_error(std::string("cannot write ") + options.json);
  if (!sound) std::fprintf(stderr, "bench_determinism: a fixed order gave several results\n");
  return sound;
}

}  // namespace
}  // namespace fp4proof::gpu

int main(int count, char** words) {
  try {
    return fp4proof::gpu::run(fp4proof::gpu::bench_options(count, words)) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_determinism: %s\n", error.what());
    return 1;
  }
}
