#pragma once
// The kernel of the tensor-core product. Included by gemm_tensor.cu alone.

#include <cstdint>
#include <type_traits>

#include "formats/float_bits.h"
#include "formats/scale_codes.h"
#include "gpu/bulk_copy.h"
#include "gpu/gemm_image.h"
#include "gpu/wgmma.h"

namespace fp4proof::gpu::tensor {

constexpr int warp_size = 32;
constexpr int warpgroup_size = 128;
constexpr int tile_columns = 128;
constexpr int column_panels = tile_columns / image_lines;

struct Task {
  ImageShape shape_a;
  ImageShape shape_b;
  Image a;
  Image b;
  const std::uint8_t* tile_is_slow;  ///< null: none is
  std::int64_t chunk_steps;          ///< tiles of K in a chunk of the accumulator
  ProductEpilogue epilogue;
  float* c;
};

/// How the work of a block is cut.
template <ImageKind image_kind, int warpgroup_count, int instruction_columns, int buffer_count, bool totals_in_shared,
          int tiles_of_k>
struct Cut {
  static constexpr ImageKind kind = image_kind;
  static constexpr int warpgroups = warpgroup_count;
  static constexpr int columns = instruction_columns;
  static constexpr int buffers = buffer_count;
  static constexpr bool shared_totals = totals_in_shared;
  static constexpr int steps_at_once = tiles_of_k;
  static constexpr bool mx = image_kind == ImageKind::mx;

  static constexpr int threads = (warpgroups + 1) * warpgroup_size;
  /// Registers of a thread while it consumes; the producer's warpgroup leaves the rest.
  static constexpr int consumer_registers = warpgroups == 2 ? 240 : 160;
  static constexpr int producer_registers = 24;
  static constexpr int rows = warpgroups * image_lines;
  static constexpr int parts = tile_columns / columns;
  static constexpr int registers = wgmma::registers(columns);
  static constexpr int blocks = mx ? 4 : 2;  ///< block products in a tile of K
  static constexpr int work = blocks * parts;

  static constexpr int panels = warpgroups + column_panels;
  static constexpr int scale_bytes = mx ? 0 : image_scales * 4;
  static constexpr int stage_bytes = panels * (image_tile_bytes + scale_bytes);
  static constexpr int totals_bytes = shared_totals ? rows * tile_columns * 4 : 0;
  static constexpr int most_shared = 227 * 1024 - 1024 - 256;
  static constexpr int stages_that_fit = (most_shared - totals_bytes) / stage_bytes;
  static constexpr int stages = stages_that_fit < 6 ? stages_that_fit : 6;
  static constexpr int shared_bytes = stages * stage_bytes + totals_bytes + 256 + 1024;

  using Word = std::conditional_t<mx, float, std::int32_t>;
};

/// Shared memory of a block.
template <class C>
struct Shared {
  std::uint8_t* base;

  /// Tiles of A, then of B.
  __device__ __forceinline__ std::uint8_t* tile(int stage, int panel) const {
    return base + (stage * C::panels + panel) * image_tile_bytes;
  }
  __device__ __forceinline__ float* scales(int stage, int panel) const {
    return reinterpret_cast<float*>(base + C::stages * C::panels * image_tile_bytes) +
           (stage * C::panels + panel) * image_scales;
  }
  __device__ __forceinline__ float4* totals() const {
    return reinterpret_cast<float4*>(base + C::stages * C::stage_bytes);
  }
  __device__ __forceinline__ SharedBarrier* full() const {
    return reinterpret_cast<SharedBarrier*>(base + C::stages * C::stage_bytes + C::totals_bytes);
  }
  __device__ __forceinline__ SharedBarrier* empty() const { return full() + C::stages; }
};

/// The tiles of C that a block computes, in an order in which blocks that run together share panels.
struct TileWalk {
  static constexpr int band = 12;  ///< rows of tiles

  std::int64_t down;
  std::int64_t across;
  std::int64_t count;

  struct Place {
    std::int64_t matrix;
    std::int64_t row;  ///< in tiles
    std::int64_t column;
  };

  __device__ __forceinline__ Place place(std::int64_t i) const {
    Place p;
    p.matrix = i / (down * across);
    const std::int64_t within = i % (down * across);
    const std::int64_t first = within / (band * across) * band;
    const std::int64_t height = min(down - first, std::int64_t{band});
    const std::int64_t rest = within - first * across;
    p.row = first + rest % height;
    p.column = rest / height;
    return p;
  }
};

template <class C>
__device__ __forceinline__ TileWalk walk_of(const Task& task) {
  const std::int64_t down = (task.shape_a.lines + C::rows - 1) / C::rows;
  const std::int64_t across = (task.shape_b.lines + tile_columns - 1) / tile_columns;
  return {down, across, task.shape_a.batch * down * across};
}

/// Whether rows from `row` of tile column `column` take the other road.
__device__ __forceinline__ bool is_slow(const Task& task, std::int64_t matrix, std::int64_t row, std::int64_t column) {
  if (task.tile_is_slow == nullptr) return false;
  const std::int64_t down = (task.shape_a.lines + product_tile - 1) / product_tile;
  const std::int64_t across = (task.shape_b.lines + product_tile - 1) / product_tile;
  return task.tile_is_slow[(matrix * down + row / product_tile) * across + column] != 0;
}

/// Stage and parity of a ring of buffers.
template <int stages>
struct Ring {
  int stage = 0;
  std::uint32_t parity = 0;

  __device__ __forceinline__ void advance() {
    if (++stage == stages) {
      stage = 0;
      parity ^= 1U;
    }
  }
};

/// The panels that one side brings to a tile of C.
template <class C>
struct Supply {
  const std::uint8_t* tiles;
  const float* scales;
  std::int64_t steps;
  int panels;

  __device__ __forceinline__ Supply(const ImageShape& shape, const Image& image, std::int64_t matrix,
                                    std::int64_t first_panel, int most_panels)
      : steps(shape.steps), panels(static_cast<int>(min(shape.panels - first_panel, std::int64_t{most_panels}))) {
    const std::int64_t tile = shape.tile(matrix, first_panel, 0);
    tiles = image.tiles + tile * image_tile_bytes;
    scales = image.scales + tile * image_scales;
  }

  __device__ __forceinline__ std::uint32_t bytes() const {
    return static_cast<std::uint32_t>(panels) * (image_tile_bytes + C::scale_bytes);
  }

  __device__ __forceinline__ void bring_step(const Shared<C>& shared, int stage, int place) {
    SharedBarrier& full = shared.full()[stage];
#pragma unroll 1
    for (int panel = 0; panel < panels; ++panel) {
      const std::int64_t offset = panel * steps;
      start_bulk_copy(shared.tile(stage, place + panel), tiles + offset * image_tile_bytes, image_tile_bytes, full);
      if constexpr (!C::mx) {
        start_bulk_copy(shared.scales(stage, place + panel), scales + offset * image_scales, C::scale_bytes, full);
      }
    }
    tiles += image_tile_bytes;
    scales += image_scales;
  }
};

/// One thread: brings tile after tile.
template <class C>
__device__ __forceinline__ void produce(const Task& task, const Shared<C>& shared) {
  const TileWalk walk = walk_of<C>(task);
  Ring<C::stages> ring;
#pragma unroll 1
  for (std::int64_t i = blockIdx.x; i < walk.count; i += gridDim.x) {
    const TileWalk::Place place = walk.place(i);
    Supply<C> a(task.shape_a, task.a, place.matrix, place.row * C::warpgroups, C::warpgroups);
    Supply<C> b(task.shape_b, task.b, place.matrix, place.column * column_panels, column_panels);
#pragma unroll 1
    for (std::int64_t step = 0; step < task.shape_a.steps; ++step) {
      shared.empty()[ring.stage].wait(ring.parity ^ 1U);
      shared.full()[ring.stage].arrive_expecting(a.bytes() + b.bytes());
      a.bring_step(shared, ring.stage, 0);
      b.bring_step(shared, ring.stage, C::warpgroups);
      ring.advance();
    }
  }
}

/// The accumulators that a thread holds, and what it adds to them.
template <class C>
struct Sums {
  float acc[C::parts][C::registers];
  float total[C::shared_totals ? 1 : C::parts][C::shared_totals ? 1 : C::registers];
  float4* totals;  ///< of this thread, a warpgroup's threads apart

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int part = 0; part < C::parts; ++part) {
#pragma unroll
      for (int i = 0; i < C::registers; ++i) {
        acc[part][i] = 0.0F;
        if constexpr (!C::shared_totals) total[part][i] = 0.0F;
      }
    }
    if constexpr (C::shared_totals) {
#pragma unroll
      for (int i = 0; i < tile_columns / 8; ++i) totals[i * warpgroup_size] = {};
    }
  }

  /// Adds the chunk to the total; a total of +0 and a first chunk give that chunk, which is never -0.
  __device__ __forceinline__ void close_chunk() {
#pragma unroll
    for (int part = 0; part < C::parts; ++part) {
#pragma unroll
      for (int i = 0; i < C::registers; i += 4) {
        float* sum = acc[part] + i;
        if constexpr (C::shared_totals) {
          float4& slot = totals[(part * C::registers + i) / 4 * warpgroup_size];
          const float4 old = slot;
          slot = {old.x + sum[0], old.y + sum[1], old.z + sum[2], old.w + sum[3]};
        } else {
          for (int j = 0; j < 4; ++j) total[part][i + j] += sum[j];
        }
        for (int j = 0; j < 4; ++j) sum[j] = 0.0F;
      }
    }
  }

  /// Registers 4 j .. 4 j + 3 of the whole row of tiles: two columns of two rows.
  __device__ __forceinline__ float4 result(int j) const {
    if constexpr (C::shared_totals) {
      return totals[j * warpgroup_size];
    } else {
      const float* t = total[j * 4 / C::registers] + j * 4 % C::registers;
      return {t[0], t[1], t[2], t[3]};
    }
  }
};

/// acc := RN(acc + p) with exact block products p.
template <class C>
__device__ __forceinline__ void add_products(float (&acc)[C::registers], const float (&p)[C::registers]) {
#pragma unroll
  for (int i = 0; i < C::registers; ++i) acc[i] += p[i];
}

/// acc := RN(acc + d s_a s_b). The product of the scales has at most six bits and is exact.
template <class C>
__device__ __forceinline__ void add_products(float (&acc)[C::registers], const std::int32_t (&d)[C::registers],
                                             const float* scales_a, const float* scales_b) {
  const float row[2] = {scales_a[0], scales_a[2]};
#pragma unroll
  for (int i = 0; i < C::registers; i += 8) {
    // 16 columns a float4; a panel of 64 lines has two groups of 64 scales.
    const int column = i * 2;
    const float4 s =
        *reinterpret_cast<const float4*>(scales_b + column / image_lines * image_scales + column % image_lines);
    const float scale[4] = {s.x, s.y, s.z, s.w};
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float both = __fmul_rn(row[j >> 1 & 1], scale[(j >> 2) * 2 + (j & 1)]);
      acc[i + j] = __fmaf_rn(__int2float_rn(d[i + j]), both, acc[i + j]);
    }
  }
}

/// A value times 2^exponent, exact where the result is.
__device__ __forceinline__ float times_power(float value, int exponent) {
  const int half = exponent / 2;
  return __fmul_rn(__fmul_rn(value, pow2f(half)), pow2f(exponent - half));
}

__device__ __forceinline__ float finish(const ProductEpilogue& epilogue, float sum, float old) {
  float y = sum;
  if (epilogue.divisor != 1.0F) y = __fdiv_rn(y, epilogue.divisor);
  if (epilogue.adds_to_c) y = __fadd_rn(old, __fmul_rn(epilogue.alpha, y));
  return y != y ? canonical_nan() : y;
}

template <class C>
__device__ __forceinline__ void store(const Task& task, const Sums<C>& sums, const TileWalk::Place& place,
                                      int warpgroup, int thread) {
  const std::int64_t rows = task.shape_a.lines;
  const std::int64_t columns = task.shape_b.lines;
  const std::int64_t first_row = place.row * C::rows + warpgroup * image_lines + thread / 32 * 16 + thread % 32 / 4;
  const std::int64_t first_column = place.column * tile_columns + thread % 4 * 2;
  const bool pairs = columns % 2 == 0;
  const auto base = [](const Image& image, std::int64_t line) { return int{image.ranges[line].base}; };
  int row_base[2] = {};
  if constexpr (C::mx) {
    for (int r = 0; r < 2; ++r) {
      if (first_row + 8 * r < rows) row_base[r] = base(task.a, place.matrix * rows + first_row + 8 * r);
    }
  }
#pragma unroll
  for (int j = 0; j < tile_columns / 8; ++j) {
    const std::int64_t column = first_column + 8 * j;
    if (column >= columns) continue;
    const bool both = column + 1 < columns;
    const float4 four = sums.result(j);
    float value[2][2] = {{four.x, four.y}, {four.z, four.w}};
    if constexpr (C::mx) {
      const int column_base[2] = {base(task.b, place.matrix * columns + column),
                                  both ? base(task.b, place.matrix * columns + column + 1) : 0};
      for (int r = 0; r < 2; ++r) {
        for (int e = 0; e < 2; ++e) value[r][e] = times_power(value[r][e], row_base[r] + column_base[e]);
      }
    }
    for (int r = 0; r < 2; ++r) {
      if (first_row + 8 * r >= rows) continue;
      float* c = task.c + (place.matrix * rows + first_row + 8 * r) * columns + column;
      if (pairs) {
        auto* pair = reinterpret_cast<float2*>(c);
        const float2 old = task.epilogue.adds_to_c ? *pair : float2{};
        *pair = {finish(task.epilogue, value[r][0], old.x), finish(task.epilogue, value[r][1], old.y)};
      } else {
        for (int e = 0; e < (both ? 2 : 1); ++e) {
          c[e] = finish(task.epilogue, value[r][e], task.epilogue.adds_to_c ? c[e] : 0.0F);
        }
      }
    }
  }
}

/// A warpgroup: 64 rows of each tile.
template <class C>
struct Consumer {
  const Shared<C>& shared;
  int warpgroup;
  int thread;
  Ring<C::stages> ring;
  Sums<C> sums;
  typename C::Word products[C::buffers][C::registers];

  __device__ __forceinline__ Consumer(const Shared<C>& memory, int warpgroup_, int thread_)
      : shared(memory), warpgroup(warpgroup_), thread(thread_) {
    sums.totals = shared.totals() + warpgroup * (image_lines * tile_columns / 4) + thread;
  }

  /// Starts the instructions of a block product: block and columns by `work` within the tile of K.
  __device__ __forceinline__ void start(std::uint64_t a, std::uint64_t b, int work,
                                        typename C::Word (&d)[C::registers]) {
    constexpr int instructions = C::mx ? 1 : 2;
    const std::uint64_t k = wgmma::descriptor_step(work / C::parts * instructions * 32);
    const std::uint64_t down = wgmma::descriptor_step(work % C::parts * C::columns * image_length);
    wgmma::fence();
    wgmma::multiply<false>(d, a + k, b + k + down);
    if constexpr (!C::mx) {
      constexpr std::uint64_t next = wgmma::descriptor_step(32);
      wgmma::multiply<true>(d, a + k + next, b + k + down + next);
    }
    wgmma::commit();
  }

  __device__ __forceinline__ void add(int stage, int work, typename C::Word (&d)[C::registers]) {
    auto& acc = sums.acc[work % C::parts];
    if constexpr (C::mx) {
      add_products<C>(acc, d);
    } else {
      const int group = work / C::parts * image_lines;
      const int panel = work % C::parts * C::columns / image_lines;
      const int row = image_scale(thread / 32 * 16 + thread % 32 / 4);
      const int column = image_scale(thread % 4 * 2);
      add_products<C>(acc, d, shared.scales(stage, warpgroup) + group + row,
                      shared.scales(stage, C::warpgroups + panel) + group + column);
    }
  }

  /// `steps` tiles of K. While products are added, the next buffers - 1 are on their way.
  template <int steps>
  __device__ __forceinline__ void multiply() {
    constexpr int ahead = C::buffers - 1;
    constexpr int all = steps * C::work;
    int stage[steps];
    std::uint64_t a;
    std::uint64_t b;
    const auto start_next = [&](int w) {
      if (w % C::work == 0) {
        stage[w / C::work] = ring.stage;
        shared.full()[ring.stage].wait(ring.parity);
        a = wgmma::descriptor(shared_address(shared.tile(ring.stage, warpgroup)));
        b = wgmma::descriptor(shared_address(shared.tile(ring.stage, C::warpgroups)));
        ring.advance();
      }
      start(a, b, w % C::work, products[w % C::buffers]);
    };
#pragma unroll
    for (int w = 0; w < ahead; ++w) start_next(w);
#pragma unroll
    for (int w = 0; w < all; ++w) {
      if (w + ahead < all) start_next(w + ahead);
      switch (all - 1 - w) {
        case 0: wgmma::wait<0>(); break;
        case 1: wgmma::wait<(ahead < 1 ? ahead : 1)>(); break;
        default: wgmma::wait<ahead>(); break;
      }
      auto& d = products[w % C::buffers];
      wgmma::finished(d);
      const bool last = w % C::work == C::work - 1;
      const int s = w / C::work;
      if (C::mx && last && thread % warp_size == 0) shared.empty()[stage[s]].arrive();
      add(stage[s], w % C::work, d);
      if (!C::mx && last) {
        __syncwarp();
        if (thread % warp_size == 0) shared.empty()[stage[s]].arrive();
      }
    }
  }

  __device__ __forceinline__ void tile(std::int64_t steps, std::int64_t chunk_steps) {
    sums.clear();
    for (std::int64_t left = steps; left > 0; left -= chunk_steps) {
      std::int64_t step = min(left, chunk_steps);
#pragma unroll 1
      for (; step >= C::steps_at_once; step -= C::steps_at_once) multiply<C::steps_at_once>();
      if constexpr (C::steps_at_once > 1) {
#pragma unroll 1
        for (; step > 0; --step) multiply<1>();
      }
      sums.close_chunk();
    }
  }
};

template <class C>
__device__ __forceinline__ void consume(const Task& task, const Shared<C>& shared, int warpgroup, int thread) {
  const TileWalk walk = walk_of<C>(task);
  Consumer<C> consumer(shared, warpgroup, thread);
#pragma unroll 1
  for (std::int64_t i = blockIdx.x; i < walk.count; i += gridDim.x) {
    const TileWalk::Place place = walk.place(i);
    consumer.tile(task.shape_a.steps, task.chunk_steps);
    const std::int64_t row = place.row * C::rows + warpgroup * image_lines;
    if (row < task.shape_a.lines && !is_slow(task, place.matrix, row, place.column)) {
      store<C>(task, consumer.sums, place, warpgroup, thread);
    }
  }
}

template <class C>
__global__ void __launch_bounds__(C::threads, 1) multiply_images(const __grid_constant__ Task task) {
  extern __shared__ std::uint8_t memory[];
  Shared<C> shared;
  shared.base = memory + (1024 - shared_address(memory) % 1024) % 1024;
  if (threadIdx.x == 0) {
    for (int i = 0; i < C::stages; ++i) {
      shared.full()[i].initialise(1);
      shared.empty()[i].initialise(C::warpgroups * 4);
    }
    publish_barriers();
  }
  __syncthreads();
  // The same number in all lanes, told to the compiler, so that the roles are one uniform branch.
  const int warpgroup = __shfl_sync(0xFFFFFFFFU, static_cast<int>(threadIdx.x) / warpgroup_size, 0);
  if (warpgroup == C::warpgroups) {
    wgmma::give_registers<C::producer_registers>();
    if (threadIdx.x % warpgroup_size == 0) produce<C>(task, shared);
  } else {
    wgmma::take_registers<C::consumer_registers>();
    consume<C>(task, shared, warpgroup, static_cast<int>(threadIdx.x) % warpgroup_size);
  }
}

}  // namespace fp4proof::gpu::tensor
