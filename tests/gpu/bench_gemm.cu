// Times of gemm(): square products, a residual product, the products of a layer's training step, and few rows. Asserts
// nothing: run it on a GPU that is otherwise idle.
//
//     bench_gemm [--runs N] [--only TEXT] [--json FILE]
//
// Codes are random, scales lie around one. `images` is the time of the conversion of both operands alone, a part of
// the whole on the tensor-core road. Times are medians of CUDA events.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "formats/hif4.h"
#include "formats/philox.h"
#include "formats/spec_corrections.h"
#include "formats/spec_profiles.h"
#include "gpu/gemm.h"
#include "gpu/gemm_image.h"
#include "gpu/gemm_tensor.h"
#include "gpu/launch.h"
#include "tests/gpu/bench_options.h"
#include "tests/gpu/timing.h"

namespace fp4proof::gpu {
namespace {

struct Case {
  const char* name;
  const char* profile;
  const char* stack;
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
};

constexpr Case cases[] = {
    {"mxfp4 8192", "mxfp4/ocp", "none", 8192, 8192, 8192},
    {"mxfp4 4096", "mxfp4/ocp", "none", 4096, 4096, 4096},
    {"mxfp4 2048", "mxfp4/ocp", "none", 2048, 2048, 2048},
    {"hif4 8192", "hif4/gcc", "none", 8192, 8192, 8192},
    {"hif4 4096", "hif4/gcc", "none", 4096, 4096, 4096},
    {"hif4 2048", "hif4/gcc", "none", 2048, 2048, 2048},
    {"mxfp4 resq 8192", "mxfp4/ocp", "resq", 8192, 8192, 8192},
    {"hif4 resq 8192", "hif4/gcc", "resq", 8192, 8192, 8192},
    {"mxfp4 Y = X W^T", "mxfp4/ocp", "none", 16384, 14336, 4096},
    {"mxfp4 dX = dY W", "mxfp4/ocp", "none", 16384, 4096, 14336},
    {"mxfp4 dW = dY^T X", "mxfp4/ocp", "none", 14336, 4096, 16384},
    {"hif4 Y = X W^T", "hif4/gcc", "none", 16384, 14336, 4096},
    {"hif4 dX = dY W", "hif4/gcc", "none", 16384, 4096, 14336},
    {"hif4 dW = dY^T X", "hif4/gcc", "none", 14336, 4096, 16384},
    {"mxfp4 64 rows", "mxfp4/ocp", "none", 64, 14336, 4096},
    {"hif4 64 rows", "hif4/gcc", "none", 64, 14336, 4096},
};

__global__ void fill_words(std::uint32_t seed, std::int64_t count, std::uint32_t* words) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    words[i] = random_word(seed, Stream::cases, 0, static_cast<std::uint64_t>(i));
  }
}

/// Scale codes within a factor of 16 of each other.
__global__ void narrow_scales(Family family, std::int64_t count, std::uint8_t* scales) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    if (family == Family::mx) {
      scales[i] = static_cast<std::uint8_t>(e8m0_bias - 2 + scales[i] % 5);
    } else {
      scales[4 * i] = static_cast<std::uint8_t>((e6m2_bias << 2) - 8 + scales[4 * i] % 17);
    }
  }
}

/// A coded part of random bytes.
struct Part {
  DeviceArray<std::uint32_t> codes;
  DeviceArray<std::uint32_t> scales;

  Part(const Profile& profile, std::int64_t lines, std::int64_t k, std::uint32_t seed)
      : Part(coded_shape(profile, {1, lines, k}), profile.family, seed) {}

  ConstCodedPart pointers() const { return {{bytes(codes), bytes(scales), nullptr}, nullptr}; }

 private:
  Part(const CodedShape& shape, Family family, std::uint32_t seed)
      : codes(static_cast<std::size_t>(ceil_div(shape.code_bytes(), 4))),
        scales(static_cast<std::size_t>(ceil_div(shape.scale_bytes(), 4))) {
    const auto fill = [](const DeviceArray<std::uint32_t>& words, std::uint32_t words_seed) {
      const auto count = static_cast<std::int64_t>(words.bytes() / 4);
      fill_words<<<grid_for(count, 256), 256>>>(words_seed, count, words.get());
    };
    fill(codes, seed);
    fill(scales, seed + 1);
    const std::int64_t count = shape.scale_bytes() / shape.bytes_per_scale;
    narrow_scales<<<grid_for(count, 256), 256>>>(family, count, reinterpret_cast<std::uint8_t*>(scales.get()));
    require(cudaGetLastError());
  }

  static const std::uint8_t* bytes(const DeviceArray<std::uint32_t>& words) {
    return reinterpret_cast<const std::uint8_t*>(words.get());
  }
};

struct Result {
  double milliseconds;
  double images;  ///< 0 on another road
};

/// Memory of an image of either kind.
struct ImageMemory {
  DeviceArray<std::uint8_t> tiles;
  DeviceArray<float> scales;
  DeviceArray<LineRange> ranges;
  DeviceArray<std::int16_t> bases;

  explicit ImageMemory(const ImageShape& shape)
      : tiles(static_cast<std::size_t>(shape.tiles() * image_tile_bytes)),
        scales(static_cast<std::size_t>(shape.tiles() * image_scales)),
        ranges(static_cast<std::size_t>(shape.lines)),
        bases(static_cast<std::size_t>(shape.lines)) {}
  Image get() const { return {tiles.get(), scales.get(), ranges.get(), bases.get()}; }
};

double images_milliseconds(const PartProduct& product, int runs) {
  const ImageKind kind = product.a.family == Family::mx ? ImageKind::mx : ImageKind::hif4;
  const ImageMemory a(image_shape(1, product.a.lines, product.k));
  const ImageMemory b(image_shape(1, product.b.lines, product.k));
  const ImageSource sources[] = {{&product.a, a.get()}, {&product.b, b.get()}};
  return median_milliseconds(runs, [&] { require_ok(launch_images(kind, 1, product.k, sources, nullptr)); });
}

Result time_case(const Case& c, int runs) {
  const Profile& profile = *find_profile(c.profile);
  const Part a(profile, c.m, c.k, 1);
  const Part residual(profile, c.m, c.k, 3);
  const Part b(profile, c.n, c.k, 5);
  const DeviceArray<float> result(static_cast<std::size_t>(c.m * c.n));
  GemmJob job;
  job.k = c.k;
  job.a = {profile, c.m, a.pointers(), residual.pointers()};
  job.b = {profile, c.n, b.pointers(), {}};
  job.stack = *find_correction_stack(c.stack);
  job.c = result.get();
  const PartProduct product = first_product(job);
  const DeviceArray<std::uint8_t> workspace(gemm_workspace(job));

  Result times{};
  times.milliseconds =
      median_milliseconds(runs, [&] { require_ok(gemm(job, workspace.get(), workspace.bytes(), nullptr)); });
  if (takes_tensor_road(product)) times.images = images_milliseconds(product, runs);
  return times;
}

void report(std::FILE* json, const Case& c, const Result& result) {
  const int products = find_correction_stack(c.stack)->residual.is_on() ? 2 : 1;
  const double operations =
      2.0 * products * static_cast<double>(c.m) * static_cast<double>(c.n) * static_cast<double>(c.k);
  const double rate = operations / result.milliseconds * 1e-9;
  std::printf("%-20s %6lld x %6lld x %6lld %9.4f ms %7.1f TFLOP/s, images %.4f ms\n", c.name,
              static_cast<long long>(c.m), static_cast<long long>(c.n), static_cast<long long>(c.k),
              result.milliseconds, rate, result.images);
  std::fflush(stdout);
  if (json == nullptr) return;
  std::fprintf(json,
               "{\"case\": \"%s\", \"profile\": \"%s\", \"stack\": \"%s\", \"m\": %lld, \"n\": %lld, \"k\": %lld, "
               "\"milliseconds\": %.6f, \"images_milliseconds\": %.6f, \"tflops\": %.2f}\n",
               c.name, c.profile, c.stack, static_cast<long long>(c.m), static_cast<long long>(c.n),
               static_cast<long long>(c.k), result.milliseconds, result.images, rate);
}

void run(const BenchOptions& options) {
  std::FILE* const json = options.json == nullptr ? nullptr : std::fopen(options.json, "w");
  if (options.json != nullptr && json == nullptr) throw std::runtime_error(std::string("cannot write ") + options.json);
  for (const Case& c : cases) {
    if (std::string_view(c.name).find(options.only) == std::string_view::npos) continue;
    report(json, c, time_case(c, options.runs));
  }
  if (json != nullptr) std::fclose(json);
}

}  // namespace
}  // namespace fp4proof::gpu

int main(int count, char** words) {
  try {
    fp4proof::gpu::run(fp4proof::gpu::bench_options(count, words));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_gemm: %s\n", error.what());
    return 1;
  }
}
