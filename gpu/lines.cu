#include "gpu/lines.h"

#include "gpu/launch.h"
#include "gpu/load_word.h"

namespace fp4proof::gpu {

namespace {

constexpr int tile = 32;
constexpr int tile_threads_y = 8;

template <DType D>
struct InputWords {
  const void* input;

  __device__ std::uint32_t operator()(std::int64_t place) const { return load_word<D>(input, place); }
};

struct RandomWords {
  RandomSource random;

  __device__ std::uint32_t operator()(std::int64_t place) const { return random.word(place); }
};

/// Axis 1: the order stays.
template <class Source>
__global__ void copy_words(Source source, std::int64_t count, std::uint32_t* words) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    words[i] = source(i);
  }
}

/// Axis 0: squares of the matrix are turned over in shared memory, so that reads and writes run along memory.
template <class Source>
__global__ void transpose_words(Source source, MatrixShape shape, std::uint32_t* words) {
  __shared__ std::uint32_t square[tile][tile + 1];
  const std::int64_t across = (shape.columns + tile - 1) / tile;
  const std::int64_t down = (shape.rows + tile - 1) / tile;
  for (std::int64_t unit = blockIdx.x; unit < shape.batch * down * across; unit += gridDim.x) {
    const std::int64_t first_column = unit % across * tile;
    const std::int64_t first_row = unit / across % down * tile;
    const std::int64_t first_place = unit / across / down * shape.rows * shape.columns;
    for (int y = static_cast<int>(threadIdx.y); y < tile; y += tile_threads_y) {
      const std::int64_t row = first_row + y;
      const std::int64_t column = first_column + threadIdx.x;
      if (row < shape.rows && column < shape.columns) {
        square[y][threadIdx.x] = source(first_place + row * shape.columns + column);
      }
    }
    __syncthreads();
    for (int y = static_cast<int>(threadIdx.y); y < tile; y += tile_threads_y) {
      const std::int64_t column = first_column + y;
      const std::int64_t row = first_row + threadIdx.x;
      if (row < shape.rows && column < shape.columns) {
        words[first_place + column * shape.rows + row] = square[threadIdx.x][y];
      }
    }
    __syncthreads();
  }
}

template <class Source>
Status gather(Source source, const MatrixShape& shape, std::uint32_t* words, cudaStream_t stream) {
  if (shape.elements() == 0) return Status::ok;
  if (shape.axis == 1) {
    constexpr int threads = 256;
    copy_words<<<grid_for(shape.elements(), threads), threads, 0, stream>>>(source, shape.elements(), words);
  } else {
    const std::int64_t squares = shape.batch * ceil_div(shape.rows, tile) * ceil_div(shape.columns, tile);
    transpose_words<<<grid_for(squares, 1), dim3(tile, tile_threads_y), 0, stream>>>(source, shape, words);
  }
  return launch_status();
}

}  // namespace

Status load_lines(DType dtype, const void* input, const MatrixShape& shape, float* lines, cudaStream_t stream) {
  auto* words = reinterpret_cast<std::uint32_t*>(lines);
  return with_dtype(dtype, [&]<DType D>() { return gather(InputWords<D>{input}, shape, words, stream); });
}

Status load_random_words(const RandomSource& random, const MatrixShape& shape, std::uint32_t* words,
                         cudaStream_t stream) {
  return gather(RandomWords{random}, shape, words, stream);
}

}  // namespace fp4proof::gpu
