// Times of quantize(), quantize_both_axes() and dequantize() next to a copy of as many bytes, and against the size of
// the matrix. Asserts nothing: run it on a GPU that is otherwise idle.
//
//     bench_quantize [--rows N] [--columns N] [--runs N] [--only TEXT] [--no-sizes] [--json FILE]
//
// A floor is the time of cudaMemcpyAsync from device to device that moves the same bytes, read plus write, right before
// the case. Times are medians of CUDA events.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "formats/float_bits.h"
#include "formats/philox.h"
#include "formats/spec_profiles.h"
#include "gpu/dequantize.h"
#include "gpu/launch.h"
#include "gpu/quantize.h"
#include "tests/gpu/device_memory.h"
#include "tests/gpu/timing.h"

namespace fp4proof::gpu {
namespace {

// ---------------------------------------------------------------------------------------------------------------------
// What is timed: add a line for a new road
// ---------------------------------------------------------------------------------------------------------------------

enum class Operation { quantize, quantize_both_axes, dequantize };

struct Case {
  const char* name;
  Operation operation;
  const char* profile;
  int axis = 1;
  ScaleLayout layout = ScaleLayout::row_major;
  DType dtype = DType::bf16;  // of the unquantized side
  bool sizes = false;         // also timed against the size of the matrix
};

constexpr auto row_major = ScaleLayout::row_major;
constexpr auto tiled = ScaleLayout::tiled_128x4;

constexpr Case cases[] = {
    {"mxfp4 along columns", Operation::quantize, "mxfp4/ocp", 1, row_major, DType::bf16, true},
    {"mxfp4 along columns, ceil", Operation::quantize, "mxfp4/ceil"},
    {"mxfp4 along columns, rceil", Operation::quantize, "mxfp4/rceil"},
    {"mxfp4 along columns, even", Operation::quantize, "mxfp4/even"},
    {"mxfp4 along columns, nearest", Operation::quantize, "mxfp4/nearest"},
    {"mxfp4 along columns, tiled scales", Operation::quantize, "mxfp4/rceil", 1, tiled},
    {"mxfp4 along rows", Operation::quantize, "mxfp4/ocp", 0, row_major, DType::bf16, true},
    {"mxfp4 along rows, tiled scales", Operation::quantize, "mxfp4/rceil", 0, tiled},
    {"mxfp4 both axes", Operation::quantize_both_axes, "mxfp4/ocp", 1, row_major, DType::bf16, true},
    {"mxfp4 both axes, tiled scales", Operation::quantize_both_axes, "mxfp4/rceil", 1, tiled},
    {"mxfp4 32x32 tiles along columns", Operation::quantize, "mxfp4-2d/ocp"},
    {"mxfp4 32x32 tiles along columns, tiled scales", Operation::quantize, "mxfp4-2d/rceil", 1, tiled},
    {"mxfp4 32x32 tiles along rows", Operation::quantize, "mxfp4-2d/ocp", 0},
    {"mxfp4 32x32 tiles along rows, tiled scales", Operation::quantize, "mxfp4-2d/rceil", 0, tiled},
    {"mxfp4 stochastic", Operation::quantize, "mxfp4/ocp-sr", 1, row_major, DType::bf16, true},
    {"mxfp4 along columns, rceil, stochastic", Operation::quantize, "mxfp4/rceil-sr"},
    {"mxfp4 along columns, rceil, stochastic, 16 bits", Operation::quantize, "mxfp4/rceil-sr16"},
    {"mxfp4 along columns, rceil, stochastic, 8 bits", Operation::quantize, "mxfp4/rceil-sr8"},
    {"hif4 along columns", Operation::quantize, "hif4/gcc", 1, row_major, DType::bf16, true},
    {"hif4 along rows", Operation::quantize, "hif4/gcc", 0, row_major, DType::bf16, true},
    {"hif4 64x64 tiles along columns", Operation::quantize, "hif4-2d/gcc"},
    {"mxfp4 to bf16", Operation::dequantize, "mxfp4/ocp", 1, row_major, DType::bf16, true},
    {"mxfp4 to f32", Operation::dequantize, "mxfp4/ocp", 1, row_major, DType::f32},
    {"hif4 to bf16", Operation::dequantize, "hif4/gcc", 1, row_major, DType::bf16, true},
    {"hif4 to f32", Operation::dequantize, "hif4/gcc", 1, row_major, DType::f32},
};

// ---------------------------------------------------------------------------------------------------------------------
// Memory and inputs
// ---------------------------------------------------------------------------------------------------------------------

/// Sums of four uniform numbers between -1 and 1, times 2^k with one k of 16 for each row: what activations look like.
__global__ void fill(DType dtype, std::int64_t columns, std::int64_t elements, void* out) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < elements; i += step) {
    const std::uint32_t word = random_word(1, Stream::cases, 0, static_cast<std::uint64_t>(i));
    const auto sum = static_cast<float>((word & 0xFFU) + (word >> 8 & 0xFFU) + (word >> 16 & 0xFFU) + (word >> 24));
    const float value = (sum - 510.0F) * pow2f(static_cast<int>(i / columns % 16) - 15);
    if (dtype == DType::f32) {
      static_cast<float*>(out)[i] = value;
    } else {
      static_cast<std::uint16_t*>(out)[i] = float_to_bf16(value);
    }
  }
}

/// How many cycles of the SM pass in a millisecond, now.
__global__ void count_cycles(std::int64_t* cycles) {
  const auto now = [] {
    std::int64_t nanoseconds;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    return nanoseconds;
  };
  const std::int64_t start = now();
  const std::int64_t first = clock64();
  std::int64_t passed = 0;
  while (passed < 1'000'000) passed = now() - start;
  *cycles = (clock64() - first) * 1'000'000 / passed;
}

/// Everything that a case of some shape reads and writes.
struct Operands {
  DeviceArray<std::uint8_t> dense;
  DeviceArray<std::uint8_t> codes[2];  // of axis 1 and of axis 0
  DeviceArray<std::uint8_t> scales[2];
  DeviceArray<float> tensor_scales;
  DeviceArray<std::uint8_t> workspace;

  Operands(const QuantizeJob& job, const CodedShape& along_columns, const CodedShape& along_rows)
      : dense(static_cast<std::size_t>(job.shape.elements() * bytes_of(job.dtype))),
        codes{DeviceArray<std::uint8_t>(static_cast<std::size_t>(along_columns.code_bytes())),
              DeviceArray<std::uint8_t>(static_cast<std::size_t>(along_rows.code_bytes()))},
        scales{DeviceArray<std::uint8_t>(static_cast<std::size_t>(along_columns.scale_bytes())),
               DeviceArray<std::uint8_t>(static_cast<std::size_t>(along_rows.scale_bytes()))},
        tensor_scales(1),
        workspace(quantize_workspace(job)) {}

  Coded coded(int axis) const { return {codes[1 - axis].get(), scales[1 - axis].get(), tensor_scales.get()}; }
};

// ---------------------------------------------------------------------------------------------------------------------
// Timing
// ---------------------------------------------------------------------------------------------------------------------

struct Result {
  std::int64_t bytes;
  double milliseconds;
  double floor;
};

/// A copy that reads and writes `bytes` bytes in all, of memory that nothing else uses.
double copy_milliseconds(std::int64_t bytes, int runs) {
  const auto half = static_cast<std::size_t>(bytes / 2);
  const DeviceArray<std::uint8_t> from(half);
  const DeviceArray<std::uint8_t> to(half);
  return median_milliseconds(runs,
                             [&] { require(cudaMemcpyAsync(to.get(), from.get(), half, cudaMemcpyDeviceToDevice)); });
}

Result time_case(const Case& c, std::int64_t rows, std::int64_t columns, int runs) {
  QuantizeJob job;
  job.profile = *find_profile(c.profile);
  job.dtype = c.dtype;
  job.shape = {1, rows, columns, c.axis};
  job.scale_layout = c.layout;
  CodedShape shapes[2];
  for (const int axis : {0, 1}) {
    MatrixShape shape = job.shape;
    shape.axis = axis;
    shapes[axis] = coded_shape(job.profile, shape, job.scale_layout);
  }
  const Operands operands(job, shapes[1], shapes[0]);
  job.input = operands.dense.get();
  fill<<<grid_for(job.shape.elements(), 1 << 12), 256>>>(c.dtype, columns, job.shape.elements(), operands.dense.get());
  require(cudaGetLastError());

  const auto coded_bytes = [&](int axis) { return shapes[axis].code_bytes() + shapes[axis].scale_bytes(); };
  Result result{};
  result.bytes = static_cast<std::int64_t>(operands.dense.bytes()) +
                 (c.operation == Operation::quantize_both_axes ? coded_bytes(0) + coded_bytes(1) : coded_bytes(c.axis));
  result.floor = copy_milliseconds(result.bytes, runs);
  std::uint8_t* const workspace = operands.workspace.get();
  const std::size_t workspace_bytes = operands.workspace.bytes();
  const auto quantize_once = [&] { require_ok(quantize(job, operands.coded(c.axis), workspace, workspace_bytes, {})); };
  switch (c.operation) {
    case Operation::quantize: result.milliseconds = median_milliseconds(runs, quantize_once); break;
    case Operation::quantize_both_axes:
      result.milliseconds = median_milliseconds(runs, [&] {
        require_ok(quantize_both_axes(job, operands.coded(1), operands.coded(0), workspace, workspace_bytes, {}));
      });
      break;
    case Operation::dequantize: {
      quantize_once();
      const DequantizeJob back{job.profile, shapes[c.axis], operands.coded(c.axis), c.dtype, operands.dense.get()};
      result.milliseconds = median_milliseconds(runs, [&] { require_ok(dequantize(back, {})); });
      break;
    }
  }
  return result;
}

// ---------------------------------------------------------------------------------------------------------------------
// Reports
// ---------------------------------------------------------------------------------------------------------------------

struct Options {
  std::int64_t rows = 16384;
  std::int64_t columns = 16384;
  int runs = 25;
  std::string_view only;
  bool sizes = true;
  const char* json = nullptr;
};

void report(std::FILE* json, const Case& c, std::int64_t rows, std::int64_t columns, const Result& result) {
  const double rate = static_cast<double>(result.bytes) / result.milliseconds * 1e-9;
  std::printf("%-48s %8lld x %-8lld %9.4f ms %9.4f ms %6.3f %6.2f TB/s\n", c.name, static_cast<long long>(rows),
              static_cast<long long>(columns), result.milliseconds, result.floor, result.milliseconds / result.floor,
              rate);
  std::fflush(stdout);
  if (json == nullptr) return;
  std::fprintf(json,
               "{\"case\": \"%s\", \"profile\": \"%s\", \"axis\": %d, \"rows\": %lld, \"columns\": %lld, "
               "\"bytes\": %lld, \"milliseconds\": %.6f, \"floor_milliseconds\": %.6f, \"ratio\": %.4f}\n",
               c.name, c.profile, c.axis, static_cast<long long>(rows), static_cast<long long>(columns),
               static_cast<long long>(result.bytes), result.milliseconds, result.floor,
               result.milliseconds / result.floor);
}

void print_device() {
  cudaDeviceProp device{};
  require(cudaGetDeviceProperties(&device, 0));
  const DeviceArray<std::int64_t> cycles(1);
  count_cycles<<<1, 1>>>(cycles.get());
  std::printf("# %s, %d SMs at %.0f MHz\n", device.name, device.multiProcessorCount,
              static_cast<double>(cycles.values()[0]) * 1e-3);
}

void run(const Options& options) {
  std::FILE* const json = options.json == nullptr ? nullptr : std::fopen(options.json, "w");
  if (options.json != nullptr && json == nullptr) throw std::runtime_error(std::string("cannot write ") + options.json);
  const auto chosen = [&](const Case& c) {
    return std::string_view(c.name).find(options.only) != std::string_view::npos;
  };
  std::printf("# %-46s %8s x %-8s %12s %12s %6s\n", "case", "rows", "columns", "median", "floor", "ratio");
  for (const Case& c : cases) {
    if (!chosen(c)) continue;
    report(json, c, options.rows, options.columns, time_case(c, options.rows, options.columns, options.runs));
  }
  print_device();
  for (const Case& c : cases) {
    if (!options.sizes || !c.sizes || !chosen(c)) continue;
    for (int log2 = 10; log2 <= 30; ++log2) {
      const std::int64_t rows = std::int64_t{1} << (log2 / 2);
      const std::int64_t columns = std::int64_t{1} << (log2 - log2 / 2);
      report(json, c, rows, columns, time_case(c, rows, columns, options.runs));
    }
  }
  if (json != nullptr) std::fclose(json);
}

Options options_of(const std::vector<std::string_view>& words) {
  Options options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--no-sizes") {
      options.sizes = false;
      continue;
    }
    if (i + 1 == words.size()) throw std::runtime_error("no value for " + std::string(words[i]));
    const std::string_view name = words[i];
    const std::string_view value = words[++i];
    if (name == "--rows") {
      options.rows = std::atoll(value.data());
    } else if (name == "--columns") {
      options.columns = std::atoll(value.data());
    } else if (name == "--runs") {
      options.runs = std::atoi(value.data());
    } else if (name == "--only") {
      options.only = value;
    } else if (name == "--json") {
      options.json = value.data();
    } else {
      throw std::runtime_error("unknown option " + std::string(name));
    }
  }
  if (options.rows <= 0 || options.columns <= 0 || options.runs <= 0) throw std::runtime_error("numbers start at 1");
  return options;
}

}  // namespace
}  // namespace fp4proof::gpu

int main(int count, char** words) {
  try {
    fp4proof::gpu::run(fp4proof::gpu::options_of({words + 1, words + count}));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_quantize: %s\n", error.what());
    return 1;
  }
}
