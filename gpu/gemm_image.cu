#include <algorithm>

#include "formats/hif4.h"
#include "formats/scale_codes.h"
#include "gpu/gemm_image.h"

namespace fp4proof::gpu {

namespace {

constexpr int warp_size = 32;
constexpr int threads_per_block = 256;
constexpr int piece = 32;  ///< elements that a thread converts at a time: a block of MXFP4, half a group of HiF4
constexpr unsigned all_lanes = 0xFFFFFFFFU;

/// 2^13 * 6 is the largest and 2^-13 * 0.5 the smallest E2M1 value that is a normal number of E5M2.
constexpr int most_shift = 13;
constexpr int least_shift = -13;
constexpr int e5m2_bias = 15;
constexpr std::uint32_t e5m2_nans = 0x7F7F7F7FU;

/// Magnitudes of eight element codes as bytes, codes 0..3 in `low` and 4..7 in `high`.
struct ByteTable {
  std::uint32_t low;
  std::uint32_t high;
};

/// E2M1 times 2^shift as E5M2: 0, 0.5, 1, 1.5 and 2, 3, 4, 6.
__device__ ByteTable e2m1_as_e5m2(int shift) {
  const std::uint32_t half = static_cast<std::uint32_t>(e5m2_bias - 1 + shift) << 2;
  return {half * 0x01010100U + 0x06040000U, half * 0x01010101U + 0x0E0C0A08U};
}

/// The bytes of the four codes in the low half of `codes`.
__device__ std::uint32_t look_up(const ByteTable& table, std::uint32_t codes) {
  return __byte_perm(table.low, table.high, codes & 0x7777U);
}

/// 0xFF for each of the four codes whose sign is set.
__device__ std::uint32_t negative_bytes(std::uint32_t codes) { return __byte_perm(0xFF00U, 0, (codes >> 3) & 0x1111U); }

__device__ std::uint32_t four_e5m2(const ByteTable& table, std::uint32_t codes) {
  return look_up(table, codes) | (negative_bytes(codes) & 0x80808080U);
}

/// S1P2 times 2^levels in quarters, as signed bytes.
__device__ std::uint32_t four_integers(int levels, std::uint32_t codes) {
  const std::uint32_t positive = look_up({0x03020100U << levels, 0x07060504U << levels}, codes);
  constexpr ByteTable minus[3] = {{0xFDFEFF00U, 0xF9FAFBFCU}, {0xFAFCFE00U, 0xF2F4F6F8U}, {0xF4F8FC00U, 0xE4E8ECF0U}};
  const ByteTable table = levels == 0 ? minus[0] : levels == 1 ? minus[1] : minus[2];
  const std::uint32_t negative = look_up(table, codes);
  const std::uint32_t mask = negative_bytes(codes);
  return (positive & ~mask) | (negative & mask);
}

/// The 16 code bytes of a piece, codes from `valid` on made +0.
__device__ uint4 load_codes(const std::uint8_t* codes, std::int64_t valid) {
  const uint2 first = __ldg(reinterpret_cast<const uint2*>(codes));
  const uint2 second = __ldg(reinterpret_cast<const uint2*>(codes + 8));
  uint4 words = {first.x, first.y, second.x, second.y};
  if (valid < piece) {
    const auto keep = [valid](int from) {
      const int kept = static_cast<int>(valid) - from;
      return kept <= 0 ? 0U : kept >= 8 ? 0xFFFFFFFFU : (1U << (4 * kept)) - 1U;
    };
    words = {words.x & keep(0), words.y & keep(8), words.z & keep(16), words.w & keep(24)};
  }
  return words;
}

__device__ bool has_values(const uint4& codes) { return ((codes.x | codes.y | codes.z | codes.w) & 0x77777777U) != 0; }

/// One line of one side.
struct Line {
  const std::uint8_t* codes;
  const std::uint8_t* scales;
  std::int64_t k;

  __device__ std::int64_t pieces() const { return ceil_div(k, piece); }
  __device__ uint4 piece_codes(std::int64_t i) const { return load_codes(codes + i * (piece / 2), k - i * piece); }
};

/// The range of a line, and in `base` the exponent that makes its largest elements just fit.
__device__ LineRange range_of(const Line& line, int lane, int& base) {
  int lowest = LineRange::far;
  int highest = -LineRange::far;
#pragma unroll 4
  for (std::int64_t i = lane; i < line.pieces(); i += warp_size) {
    const std::uint8_t scale = __ldg(line.scales + i);
    const bool counts = scale != e8m0_nan && has_values(line.piece_codes(i));
    const int exponent = int{scale} - e8m0_bias;
    lowest = min(lowest, counts ? exponent : LineRange::far);
    highest = max(highest, counts ? exponent : -LineRange::far);
  }
  lowest = __reduce_min_sync(all_lanes, lowest);
  highest = __reduce_max_sync(all_lanes, highest);
  base = highest == -LineRange::far ? 0 : highest - most_shift;
  const bool is_too_wide = highest - lowest > most_shift - least_shift;
  return {static_cast<std::int16_t>(is_too_wide ? LineRange::too_wide : lowest), static_cast<std::int16_t>(highest)};
}

struct MxPieces {
  const Line& line;
  int base;

  __device__ void convert(std::int64_t i, uint4 (&bytes)[2]) const {
    const uint4 codes = line.piece_codes(i);
    const std::uint8_t scale = __ldg(line.scales + i);
    const ByteTable table = e2m1_as_e5m2(int{scale} - e8m0_bias - base);
    const bool nan = scale == e8m0_nan;
    const auto four = [&](std::uint32_t four_codes) { return nan ? e5m2_nans : four_e5m2(table, four_codes); };
    bytes[0] = {four(codes.x), four(codes.x >> 16), four(codes.y), four(codes.y >> 16)};
    bytes[1] = {four(codes.z), four(codes.z >> 16), four(codes.w), four(codes.w >> 16)};
  }
};

struct Hif4Pieces {
  const Line& line;

  __device__ std::uint32_t word(std::int64_t i) const {
    return __ldg(reinterpret_cast<const std::uint32_t*>(line.scales) + i / 2);
  }

  __device__ void convert(std::int64_t i, uint4 (&bytes)[2]) const {
    const uint4 codes = line.piece_codes(i);
    const std::uint32_t scale = word(i);
    const int first = static_cast<int>(i % 2) * piece;
    const auto four = [&](int column, std::uint32_t four_codes) {
      return four_integers(hif4_level2(scale, first + column) + hif4_level3(scale, first + column), four_codes);
    };
    bytes[0] = {four(0, codes.x), four(4, codes.x >> 16), four(8, codes.y), four(12, codes.y >> 16)};
    bytes[1] = {four(16, codes.z), four(20, codes.z >> 16), four(24, codes.w), four(28, codes.w >> 16)};
  }
};

/// A warp a line. Pieces that only fill the last tile are zeros.
template <class Pieces>
__device__ void write_line(const Pieces& pieces, std::int64_t count, std::int64_t steps, std::uint8_t* tiles, int row,
                           int lane) {
  constexpr int per_tile = image_length / piece;
#pragma unroll 4
  for (std::int64_t i = lane; i < steps * per_tile; i += warp_size) {
    uint4 bytes[2] = {};
    if (i < count) pieces.convert(i, bytes);
    std::uint8_t* tile = tiles + i / per_tile * image_tile_bytes;
    const int k = static_cast<int>(i % per_tile) * piece;
    *reinterpret_cast<uint4*>(tile + image_byte(row, k)) = bytes[0];
    *reinterpret_cast<uint4*>(tile + image_byte(row, k + 16)) = bytes[1];
  }
}

/// What is read and written for one side.
struct Conversion {
  ConstCoded coded;
  ImageShape shape;
  Image image;
};

struct Conversions {
  Conversion sides[2];
};

/// A row of the grid a side. Lines that only fill the last panel are zeros: the product copies whole tiles.
template <ImageKind kind>
__global__ void __launch_bounds__(threads_per_block)
    write_images(const __grid_constant__ Conversions conversions, std::int64_t k) {
  constexpr int block = kind == ImageKind::mx ? 32 : 64;
  constexpr int scale_size = kind == ImageKind::mx ? 1 : 4;
  const Conversion& side = conversions.sides[blockIdx.y];
  const ImageShape& shape = side.shape;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const std::int64_t padded_lines = shape.panels * image_lines;
  const std::int64_t warps = std::int64_t{gridDim.x} * (threads_per_block / warp_size);
  for (std::int64_t i = (std::int64_t{blockIdx.x} * threads_per_block + threadIdx.x) / warp_size;
       i < shape.batch * padded_lines; i += warps) {
    const std::int64_t matrix = i / padded_lines;
    const std::int64_t number = i % padded_lines;
    const bool exists = number < shape.lines;
    const std::int64_t place = matrix * shape.lines + number;
    const std::int64_t blocks = exists ? ceil_div(k, block) : 0;
    const Line line = {side.coded.codes + place * blocks * (block / 2), side.coded.scales + place * blocks * scale_size,
                       exists ? k : 0};
    const int row = static_cast<int>(number % image_lines);
    const std::int64_t first_tile = shape.tile(matrix, number / image_lines, 0);
    std::uint8_t* tiles = side.image.tiles + first_tile * image_tile_bytes;
    if constexpr (kind == ImageKind::mx) {
      int base = 0;
      if (exists) {
        const LineRange range = range_of(line, lane, base);
        if (lane == 0) {
          side.image.ranges[place] = range;
          side.image.bases[place] = static_cast<std::int16_t>(base);
        }
      }
      write_line(MxPieces{line, base}, line.pieces(), shape.steps, tiles, row, lane);
    } else {
      const Hif4Pieces pieces{line};
      write_line(pieces, line.pieces(), shape.steps, tiles, row, lane);
      float* scales = side.image.scales + first_tile * image_scales + image_scale(row);
      for (std::int64_t group = lane; group < shape.steps * image_groups; group += warp_size) {
        const float scale = group < blocks ? decode_e6m2(hif4_e6m2(pieces.word(2 * group))) * 0.25F : 0.0F;
        scales[group * image_lines] = scale;
      }
    }
  }
}

/// A block of 128 threads a tile of C, a line of A and one of B each.
__global__ void __launch_bounds__(product_tile)
    write_flags(ImageShape a, const LineRange* ranges_a, ImageShape b, const LineRange* ranges_b, int length_log2,
                std::uint8_t* tile_is_slow) {
  __shared__ int extremes[4];
  const std::int64_t across = ceil_div(b.lines, product_tile);
  const std::int64_t down = ceil_div(a.lines, product_tile);
  for (std::int64_t tile = blockIdx.x; tile < a.batch * down * across; tile += gridDim.x) {
    if (threadIdx.x < 4) extremes[threadIdx.x] = threadIdx.x % 2 == 0 ? LineRange::far : -LineRange::far;
    __syncthreads();
    const std::int64_t matrix = tile / (down * across);
    const auto take = [&](const ImageShape& side, const LineRange* ranges, std::int64_t panel, int* lowest_highest) {
      const std::int64_t line = panel * product_tile + threadIdx.x;
      if (line >= side.lines) return;
      const LineRange range = ranges[matrix * side.lines + line];
      atomicMin(lowest_highest, int{range.lowest});
      atomicMax(lowest_highest + 1, int{range.highest});
    };
    take(a, ranges_a, tile / across % down, extremes);
    take(b, ranges_b, tile % across, extremes + 2);
    __syncthreads();
    if (threadIdx.x == 0) {
      // Products are multiples of 2^(lowest - 2), and their magnitudes sum to at most 36 * K * 2^highest.
      const int lowest = extremes[0] + extremes[2];
      const int highest = extremes[1] + extremes[3];
      tile_is_slow[tile] = lowest - 2 < -149 || highest + 6 + length_log2 > 126 ? 1 : 0;
    }
    __syncthreads();
  }
}

}  // namespace

Status launch_images(ImageKind kind, std::int64_t batch, std::int64_t k, std::span<const ImageSource> sources,
                     cudaStream_t stream) {
  Conversions conversions{};
  std::int64_t most_lines = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const ProductSide& side = *sources[i].side;
    const ImageShape shape = image_shape(batch, side.lines, k);
    conversions.sides[i] = {side.coded, shape, sources[i].image};
    most_lines = std::max(most_lines, batch * shape.panels * image_lines);
  }
  const dim3 grid(grid_for(most_lines, threads_per_block / warp_size), static_cast<unsigned>(sources.size()));
  if (kind == ImageKind::mx) {
    write_images<ImageKind::mx><<<grid, threads_per_block, 0, stream>>>(conversions, k);
  } else {
    write_images<ImageKind::hif4><<<grid, threads_per_block, 0, stream>>>(conversions, k);
  }
  return launch_status();
}

Status launch_slow_flags(const ImageShape& a, const LineRange* ranges_a, const ImageShape& b, const LineRange* ranges_b,
                         std::uint8_t* tile_is_slow, cudaStream_t stream) {
  int length_log2 = 0;
  while ((std::int64_t{1} << length_log2) < a.steps * image_length) ++length_log2;
  const std::int64_t tiles = a.batch * ceil_div(a.lines, product_tile) * ceil_div(b.lines, product_tile);
  write_flags<<<grid_for(tiles, 1), product_tile, 0, stream>>>(a, ranges_a, b, ranges_b, length_log2, tile_is_slow);
  return launch_status();
}

}  // namespace fp4proof::gpu
