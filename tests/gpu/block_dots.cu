#include "formats/philox.h"
#include "gpu/bulk_copy.h"
#include "gpu/gemm_image.h"
#include "gpu/wgmma.h"
#include "tests/gpu/block_dots.h"

namespace fp4proof::gpu {

namespace {

constexpr int threads = 128;
constexpr int rows_a = image_lines;
constexpr int rows_b = 2 * image_lines;
constexpr int rows = rows_a + rows_b;

/// Elements of one tile of A and one of B as integers, their exponents, and as bytes for the instructions.
struct Tiles {
  std::uint8_t bytes[rows * image_length];
  std::int8_t integers[rows][image_length];
  std::int8_t exponents[rows][image_length / 32];
};

/// Twice the magnitude of E2M1, by index 0 to 7; or four times that of S1P2 with two random level bits.
__device__ int magnitude(bool mx, std::uint32_t index, std::uint32_t word) {
  constexpr int e2m1[8] = {0, 1, 2, 3, 4, 6, 8, 12};
  return mx ? e2m1[index] : static_cast<int>(index) << ((word & 1U) + (word >> 1 & 1U));
}

__device__ int element(DotPattern pattern, bool mx, int line, int k, std::uint32_t word) {
  const int block = mx ? 32 : 64;
  const int place = k % block;
  const int largest = mx ? 12 : 28;
  const int sign = (word & 0x10000U) != 0 ? -1 : 1;
  const int random = magnitude(mx, word % 8, word >> 20) * sign;
  switch (pattern) {
    case DotPattern::any: return random;
    case DotPattern::largest: return largest * sign;
    case DotPattern::all_positive: return largest;
    case DotPattern::one_largest: return place == line * 5 % block ? largest * sign : sign;
    case DotPattern::one_against_all: return place == 0 ? largest : line % 2 == 0 ? 1 : -1;
    case DotPattern::cancelling: return word % 5 == 0 ? sign : k % 2 == 0 ? largest : -largest;
    case DotPattern::sparse: return word % 32 < 6 ? random : 0;
    case DotPattern::halves: return place < block / 2 || word % 4 == 0 ? largest : 1;
  }
  return 0;
}

/// value / 2 * 2^exponent as E5M2, where it is a normal number; written without the tables under test.
__device__ std::uint8_t e5m2(int value, int exponent) {
  if (value == 0) return 0;
  const int magnitude = abs(value);
  const int log2 = 31 - __clz(magnitude);
  const int fraction = (magnitude << 2 >> log2) & 3;
  return static_cast<std::uint8_t>((value < 0 ? 0x80 : 0) | (log2 - 1 + exponent + 15) << 2 | fraction);
}

__device__ int exponent_of(DotExponents exponents, std::uint32_t word) {
  switch (exponents) {
    case DotExponents::lowest: return -13;
    case DotExponents::highest: return 13;
    default: return static_cast<int>(word % 27) - 13;
  }
}

/// Row `row` counts through the lines of A and then those of B, which stand in tiles of 64 lines one after the other.
__device__ int byte_of(int row, int k) {
  return row / image_lines * image_tile_bytes + image_byte(row % image_lines, k);
}

__device__ void fill(Tiles& tiles, bool mx, DotPattern pattern, DotExponents exponents, std::uint64_t seed) {
  const auto word = [&](int row, int k) {
    const std::uint64_t place = (std::uint64_t{blockIdx.x} * rows + row) * (2 * image_length) + k;
    return random_word(seed, Stream::cases, 0, place);
  };
  for (int i = threadIdx.x; i < rows * image_length; i += threads) {
    const int row = i / image_length;
    const int k = i % image_length;
    const int value = element(pattern, mx, row, k, word(row, k));
    const int exponent = exponent_of(exponents, word(row, image_length + k / 32));
    tiles.integers[row][k] = static_cast<std::int8_t>(value);
    if (k % 32 == 0) tiles.exponents[row][k / 32] = static_cast<std::int8_t>(exponent);
    tiles.bytes[byte_of(row, k)] = mx ? e5m2(value, exponent) : static_cast<std::uint8_t>(value);
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
}

__device__ int exact_dot(const Tiles& tiles, int row, int column, int first, int length) {
  int sum = 0;
  for (int k = first; k < first + length; ++k) {
    sum += int{tiles.integers[row][k]} * int{tiles.integers[rows_a + column][k]};
  }
  return sum;
}

/// Calls `compare(i, row, column)` for each register of the thread.
template <class Compare>
__device__ void for_each_register(Compare compare) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int i = 0; i < wgmma::registers(rows_b); ++i) {
    compare(i, 16 * warp + lane / 4 + i / 2 % 2 * 8, i / 4 * 8 + lane % 4 * 2 + i % 2);
  }
}

__device__ Tiles& shared_tiles() {
  extern __shared__ std::uint8_t memory[];
  constexpr std::uint32_t alignment = 1024;
  return *reinterpret_cast<Tiles*>(memory + (alignment - shared_address(memory) % alignment) % alignment);
}

constexpr int shared_bytes = sizeof(Tiles) + 1024;

__global__ void __launch_bounds__(threads)
    compare_mx(DotPattern pattern, DotExponents exponents, std::uint64_t seed, unsigned long long* wrong) {
  Tiles& tiles = shared_tiles();
  fill(tiles, true, pattern, exponents, seed);
  const std::uint64_t a = wgmma::descriptor(shared_address(tiles.bytes));
  const std::uint64_t b = wgmma::descriptor(shared_address(tiles.bytes + image_tile_bytes));
  unsigned long long count = 0;
  for (int block = 0; block < image_length / 32; ++block) {
    float d[wgmma::registers(rows_b)];
    for (float& value : d) value = canonical_nan();
    const std::uint64_t step = wgmma::descriptor_step(32 * block);
    wgmma::fence();
    wgmma::multiply<false>(d, a + step, b + step);
    wgmma::commit();
    wgmma::wait<0>();
    wgmma::finished(d);
    for_each_register([&](int i, int row, int column) {
      const int exponent = tiles.exponents[row][block] + tiles.exponents[rows_a + column][block] - 2;
      const float want = static_cast<float>(exact_dot(tiles, row, column, 32 * block, 32)) * pow2f(exponent);
      if (!(d[i] == want)) ++count;
    });
  }
  if (count != 0) atomicAdd(wrong, count);
}

__global__ void __launch_bounds__(threads)
    compare_hif4(DotPattern pattern, std::uint64_t seed, unsigned long long* wrong) {
  Tiles& tiles = shared_tiles();
  fill(tiles, false, pattern, DotExponents::any, seed);
  const std::uint64_t a = wgmma::descriptor(shared_address(tiles.bytes));
  const std::uint64_t b = wgmma::descriptor(shared_address(tiles.bytes + image_tile_bytes));
  unsigned long long count = 0;
  for (int group = 0; group < image_groups; ++group) {
    std::int32_t d[wgmma::registers(rows_b)];
    for (std::int32_t& value : d) value = 1;
    const std::uint64_t step = wgmma::descriptor_step(64 * group);
    const std::uint64_t half = wgmma::descriptor_step(32);
    wgmma::fence();
    wgmma::multiply<false>(d, a + step, b + step);
    wgmma::multiply<true>(d, a + step + half, b + step + half);
    wgmma::commit();
    wgmma::wait<0>();
    wgmma::finished(d);
    for_each_register([&](int i, int row, int column) {
      if (d[i] != exact_dot(tiles, row, column, 64 * group, 64)) ++count;
    });
  }
  if (count != 0) atomicAdd(wrong, count);
}

}  // namespace

void count_wrong_mx_dots(DotPattern pattern, DotExponents exponents, std::uint64_t seed, unsigned blocks,
                         unsigned long long* wrong, cudaStream_t stream) {
  cudaFuncSetAttribute(compare_mx, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  compare_mx<<<blocks, threads, shared_bytes, stream>>>(pattern, exponents, seed, wrong);
}

void count_wrong_hif4_dots(DotPattern pattern, std::uint64_t seed, unsigned blocks, unsigned long long* wrong,
                           cudaStream_t stream) {
  cudaFuncSetAttribute(compare_hif4, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
  compare_hif4<<<blocks, threads, shared_bytes, stream>>>(pattern, seed, wrong);
}

}  // namespace fp4proof::gpu
