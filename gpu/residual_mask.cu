#include "gpu/residual_mask.h"

#include "formats/float_bits.h"
#include "formats/residual_mask.h"
#include "gpu/launch.h"
#include "gpu/ranking.h"

namespace fp4proof::gpu {

namespace {

constexpr int warp = 32;
constexpr int threads = 256;
constexpr int piece = 8;  ///< codes that a thread masks: 4 bytes of 4-bit codes, 8 bytes of wider ones

/// How the matrices of a batch are cut into what is kept or dropped as a whole: columns or tiles, in row-major order.
struct Cut {
  std::int64_t batch;
  std::int64_t lines;
  std::int64_t length;
  std::int64_t height;  ///< lines of a part
  int width;            ///< columns of a part

  __host__ __device__ std::int64_t across() const { return (length + width - 1) / width; }
  __host__ __device__ std::int64_t down() const { return height == 0 ? 0 : (lines + height - 1) / height; }
  __host__ __device__ std::int64_t parts() const { return across() * down(); }
};

Cut cut_of(const ResidualSpec& spec, const MatrixShape& shape) {
  const bool by_columns = spec.mask == ResidualMask::top_channels;
  return {shape.batch, shape.lines(), shape.length(), by_columns ? shape.lines() : spec.tile_rows,
          by_columns ? 1 : int{spec.tile_cols}};
}

// --- Measures --------------------------------------------------------------------------------------------------------

/// The numbers of a column from `row` on; +0, which adds nothing, behind its end.
constexpr int rows_together = 32;
__device__ void read_rows(const float* column, std::int64_t row, const Cut& cut, float (&values)[rows_together]) {
#pragma unroll
  for (int i = 0; i < rows_together; ++i) {
    values[i] = row + i < cut.lines ? column[(row + i) * cut.length] : 0.0F;
  }
}

/// C23: a thread adds up a column, row after row, and reads the next rows meanwhile.
__global__ void measure_columns(Cut cut, const float* residual, double* measures) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  std::int64_t at = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; at < cut.batch * cut.length; at += step) {
    const float* column = residual + at / cut.length * cut.lines * cut.length + at % cut.length;
    float values[rows_together];
    float next[rows_together];
    double sum = 0.0;
    read_rows(column, 0, cut, values);
    for (std::int64_t row = 0; row < cut.lines; row += rows_together) {
      read_rows(column, row + rows_together, cut, next);
#pragma unroll
      for (int i = 0; i < rows_together; ++i) {
        sum += square_of(values[i]);
        values[i] = next[i];
      }
    }
    measures[at] = sum;
  }
}

/// Largest |x|: a warp a tile.
__global__ void measure_maxima(Cut cut, const float* input, double* measures) {
  const int lane = static_cast<int>(threadIdx.x) % warp;
  const std::int64_t warps = std::int64_t{gridDim.x} * (threads / warp);
  std::int64_t tile = std::int64_t{blockIdx.x} * (threads / warp) + threadIdx.x / warp;
  for (; tile < cut.batch * cut.parts(); tile += warps) {
    const std::int64_t first_column = tile % cut.across() * cut.width;
    const std::int64_t top = tile / cut.across() % cut.down() * cut.height;
    const std::int64_t height = min(cut.height, cut.lines - top);
    const int width = static_cast<int>(min(std::int64_t{cut.width}, cut.length - first_column));
    const float* corner = input + (tile / cut.parts() * cut.lines + top) * cut.length + first_column;
    std::uint32_t largest = 0;
#pragma unroll 4
    for (std::int64_t row = 0; row < height; ++row) {
      for (int i = lane; i < width; i += warp) largest = max(largest, order_of(corner[row * cut.length + i]));
    }
    largest = __reduce_max_sync(0xFFFFFFFFU, largest);
    if (lane == 0) measures[tile] = float_from_bits(largest);
  }
}

/// Sum of r^2 in row-major order: a warp takes 32 neighbouring tiles, one a lane. It reads them along memory, 32
/// columns of each tile at a time, and every lane adds up its own.
__global__ void measure_squares(Cut cut, const float* residual, double* measures) {
  __shared__ float staged[warp][warp + 1];
  const int lane = static_cast<int>(threadIdx.x);
  const std::int64_t bundles = (cut.across() + warp - 1) / warp;
  for (std::int64_t unit = blockIdx.x; unit < cut.batch * cut.down() * bundles; unit += gridDim.x) {
    const std::int64_t first_tile = unit % bundles * warp;
    const std::int64_t top = unit / bundles % cut.down() * cut.height;
    const std::int64_t height = min(cut.height, cut.lines - top);
    const float* band = residual + (unit / bundles / cut.down() * cut.lines + top) * cut.length;
    double sum = 0.0;
    for (std::int64_t row = 0; row < height; ++row) {
      for (int start = 0; start < cut.width; start += warp) {
        const int staged_width = min(warp, cut.width - start);
#pragma unroll 8
        for (int tile = 0; tile < warp; ++tile) {
          const std::int64_t column = (first_tile + tile) * cut.width + start + lane;
          const bool exists = lane < staged_width && column < cut.length;
          staged[tile][lane] = exists ? band[row * cut.length + column] : 0.0F;  // +0 adds nothing
        }
        __syncwarp();
        for (int i = 0; i < staged_width; ++i) sum += square_of(staged[lane][i]);
        __syncwarp();
      }
    }
    if (first_tile + lane < cut.across()) measures[unit / bundles * cut.across() + first_tile + lane] = sum;
  }
}

__global__ void flag_above(std::int64_t count, const double* measures, float threshold, std::uint8_t* flags) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    flags[i] = measures[i] > double{threshold} ? 1 : 0;
  }
}

// --- Masks -----------------------------------------------------------------------------------------------------------

/// C22.
struct KeepTwoOfFour {
  const float* residual;

  __device__ void operator()(const Cut& cut, std::int64_t line, std::int64_t column,
                             std::uint8_t (&kept)[piece]) const {
    const float* at = residual + line * cut.length + column;
    float values[piece];
    for (int i = 0; i < piece; ++i) values[i] = column + i < cut.length ? at[i] : 0.0F;
    keep_two_of_four(values, kept);
    keep_two_of_four(values + 4, kept + 4);
  }
};

struct KeepFlagged {
  const std::uint8_t* flags;

  __device__ void operator()(const Cut& cut, std::int64_t line, std::int64_t column,
                             std::uint8_t (&kept)[piece]) const {
    const std::int64_t band = line / cut.lines * cut.down() + line % cut.lines / cut.height;
    for (int i = 0; i < piece; ++i) {
      if (column + i < cut.length) kept[i] = flags[band * cut.across() + (column + i) / cut.width];
    }
  }
};

template <class Keep>
__global__ void mask_codes(Cut cut, Keep keep, bool nibbles, std::int64_t padded_length, std::uint8_t* codes) {
  const std::int64_t pieces_of_line = (cut.length + piece - 1) / piece;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  std::int64_t at = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; at < cut.batch * cut.lines * pieces_of_line; at += step) {
    const std::int64_t line = at / pieces_of_line;
    const std::int64_t column = at % pieces_of_line * piece;
    std::uint8_t kept[piece] = {};
    keep(cut, line, column, kept);
    const std::int64_t first = line * padded_length + column;
    if (nibbles) {
      std::uint32_t bits = 0;
      for (int i = 0; i < piece; ++i) bits |= kept[i] != 0 ? 0xFU << (4 * i) : 0U;
      *reinterpret_cast<std::uint32_t*>(codes + first / 2) &= bits;
    } else {
      for (int i = 0; i < piece; ++i) {
        if (kept[i] == 0) codes[first + i] = 0;
      }
    }
  }
}

template <class Keep>
Status launch_mask(const Cut& cut, const Keep& keep, const CodedShape& coded, std::uint8_t* codes,
                   cudaStream_t stream) {
  const std::int64_t pieces = cut.batch * cut.lines * ceil_div(cut.length, piece);
  if (pieces == 0) return Status::ok;
  mask_codes<<<grid_for(pieces, threads), threads, 0, stream>>>(cut, keep, coded.nibbles, coded.padded_length(), codes);
  return launch_status();
}

Status measure(const ResidualSpec& spec, const Cut& cut, const float* input, const float* residual, double* measures,
               cudaStream_t stream) {
  const std::int64_t parts = cut.batch * cut.parts();
  if (spec.mask == ResidualMask::top_channels) {
    constexpr int column_threads = 32;
    measure_columns<<<grid_for(parts, column_threads), column_threads, 0, stream>>>(cut, residual, measures);
  } else if (spec.mask == ResidualMask::top_tiles && spec.measure == TileMeasure::residual_l2) {
    const std::int64_t bundles = cut.batch * cut.down() * ceil_div(cut.across(), warp);
    measure_squares<<<grid_for(bundles, 1), warp, 0, stream>>>(cut, residual, measures);
  } else {
    measure_maxima<<<grid_for(parts, threads / warp), threads, 0, stream>>>(cut, input, measures);
  }
  return launch_status();
}

}  // namespace

std::size_t mask_workspace(const ResidualSpec& spec, const MatrixShape& shape) {
  if (!spec.mixes_rows()) return 0;
  const Cut cut = cut_of(spec, shape);
  return static_cast<std::size_t>(cut.batch * cut.parts()) * (sizeof(double) + 1);
}

Status mask_residual(const ResidualSpec& spec, const MatrixShape& shape, const CodedShape& coded, const float* input,
                     const float* residual, std::uint8_t* codes, void* workspace, cudaStream_t stream) {
  if (spec.mask == ResidualMask::dense || shape.elements() == 0) return Status::ok;
  const Cut cut = cut_of(spec, shape);
  if (spec.mask == ResidualMask::two_four) return launch_mask(cut, KeepTwoOfFour{residual}, coded, codes, stream);

  const std::int64_t parts = cut.batch * cut.parts();
  auto* measures = static_cast<double*>(workspace);
  auto* flags = reinterpret_cast<std::uint8_t*>(measures + parts);
  Status status = measure(spec, cut, input, residual, measures, stream);
  if (status != Status::ok) return status;
  if (spec.mask == ResidualMask::tiles_above) {
    flag_above<<<grid_for(parts, threads), threads, 0, stream>>>(parts, measures, spec.threshold, flags);
    status = launch_status();
  } else {
    status = flag_largest(cut.batch, cut.parts(), kept_count(spec.fraction, cut.parts()), measures, flags, stream);
  }
  if (status != Status::ok) return status;
  return launch_mask(cut, KeepFlagged{flags}, coded, codes, stream);
}

}  // namespace fp4proof::gpu
