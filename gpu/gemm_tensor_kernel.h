#pragma once
// The kernel of the tensor-core product. Included by gemm_tensor.cu alone.

#include <cstdint>
#include <type_traits>

#include "formats/float_bits.h"
#include "formats/scale_codes.h"
#include "gpu/bulk_copy.h"
#include "gpu/gemm_image.h"
#include "gpu/launch.h"
#include "gpu/wgmma.h"

namespace fp4proof::gpu::tensor {

constexpr int warp_size = 32;
constexpr int warpgroup_size = 128;
constexpr int tile_columns = 128;
constexpr int column_panels = tile_columns / image_lines;

/// How the work of a block is cut: tiles of C of 64 rows a warpgroup and 128 columns.
template <ImageKind image_kind, int warpgroup_count>
struct Cut {
  static constexpr bool mx = image_kind == ImageKind::mx;
  static constexpr int warpgroups = warpgroup_count;  ///< that multiply: 2 or 3
  static constexpr int rows = warpgroups * image_lines;

  static constexpr int threads = (warpgroups + 1) * warpgroup_size;
  /// Registers of a thread that multiplies; the producer's warpgroup leaves the rest.
  static constexpr int consumer_registers = warpgroups == 2 ? 232 : 160;
  static constexpr int producer_registers = warpgroups == 2 ? 40 : 32;
  static constexpr int registers = wgmma::registers(tile_columns);
  /// With three warpgroups there are registers for block products and accumulators alone.
  static constexpr bool totals_in_shared = warpgroups == 3;

  static constexpr int blocks = mx ? 4 : 2;        ///< block products in a tile of K
  static constexpr int instructions = mx ? 1 : 2;  ///< of a block product

  static constexpr int panels = warpgroups + column_panels;
  static constexpr int scale_bytes = mx ? 0 : image_scales * 4;
  static constexpr int stage_bytes = panels * (image_tile_bytes + scale_bytes);
  static constexpr int totals_bytes = totals_in_shared ? rows * tile_columns * 4 : 0;
  static constexpr int barrier_bytes = 256;
  static constexpr int alignment = 1024;
  static constexpr int most_shared = 227 * 1024;
  static constexpr int stages = (most_shared - totals_bytes - barrier_bytes - alignment) / stage_bytes;
  static constexpr int shared_bytes = stages * stage_bytes + totals_bytes + barrier_bytes + alignment;

  using Word = std::conditional_t<mx, float, std::int32_t>;  ///< of a block product
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

/// The tiles of C in an order in which blocks that run together share panels. As many as fit in memory have 32-bit
/// numbers.
struct TileWalk {
  static constexpr std::uint32_t band = 12;  ///< rows of tiles

  std::uint32_t down;
  std::uint32_t across;
  std::uint32_t count;

  struct Place {
    std::uint32_t matrix;
    std::uint32_t row;
    std::uint32_t column;
  };

  __device__ __forceinline__ Place place(std::uint32_t i) const {
    const std::uint32_t within = i % (down * across);
    const std::uint32_t first_row = within / (band * across) * band;
    const std::uint32_t height = min(down - first_row, band);
    const std::uint32_t rest = within - first_row * across;
    return {i / (down * across), first_row + rest % height, rest / height};
  }
};

struct Task {
  ImageShape shape_a;
  ImageShape shape_b;
  Image a;
  Image b;
  TileWalk walk;
  const std::uint8_t* tile_is_slow;  ///< null: none is
  std::int32_t steps;                ///< tiles of K
  std::int32_t chunk_steps;          ///< of a chunk of the accumulator
  ProductEpilogue epilogue;
  float* c;
};

/// Whether rows from `row` of tile column `column` take the other road.
__device__ __forceinline__ bool is_slow(const Task& task, std::int64_t matrix, std::int64_t row, std::int64_t column) {
  if (task.tile_is_slow == nullptr) return false;
  const std::int64_t down = ceil_div(task.shape_a.lines, product_tile);
  const std::int64_t across = ceil_div(task.shape_b.lines, product_tile);
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
      : steps(shape.steps),
        panels(static_cast<int>(max(min(shape.panels - first_panel, std::int64_t{most_panels}), std::int64_t{0}))) {
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
  Ring<C::stages> ring;
#pragma unroll 1
  for (std::uint32_t i = blockIdx.x; i < task.walk.count; i += gridDim.x) {
    const TileWalk::Place place = task.walk.place(i);
    const std::int64_t panel_a = std::int64_t{place.row} * C::warpgroups;
    const std::int64_t panel_b = std::int64_t{place.column} * column_panels;
    Supply<C> a(task.shape_a, task.a, place.matrix, panel_a, C::warpgroups);
    Supply<C> b(task.shape_b, task.b, place.matrix, panel_b, column_panels);
#pragma unroll 1
    for (int step = 0; step < task.steps; ++step) {
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
  float acc[C::registers];
  float total[C::totals_in_shared ? 4 : C::registers];
  float4* shared_total;  ///< of this thread; the next four registers stand a warpgroup of threads further

  __device__ __forceinline__ void clear() {
#pragma unroll
    for (int i = 0; i < C::registers; i += 4) {
      clear_four(acc + i);
      if constexpr (C::totals_in_shared) {
        shared_total[i / 4 * warpgroup_size] = {};
      } else {
        clear_four(total + i);
      }
    }
  }

  /// Adds the chunk to the total; a total of +0 and a first chunk give that chunk, which is never -0.
  __device__ __forceinline__ void close_chunk() {
#pragma unroll
    for (int i = 0; i < C::registers; i += 4) {
      float* chunk = acc + i;
      if constexpr (C::totals_in_shared) {
        float4& slot = shared_total[i / 4 * warpgroup_size];
        const float4 old = slot;
        slot = {old.x + chunk[0], old.y + chunk[1], old.z + chunk[2], old.w + chunk[3]};
      } else {
        for (int j = 0; j < 4; ++j) total[i + j] += chunk[j];
      }
      clear_four(chunk);
    }
  }

  /// Totals 4 j .. 4 j + 3: two columns of two rows.
  __device__ __forceinline__ float4 result(int j) const {
    if constexpr (C::totals_in_shared) {
      return shared_total[j * warpgroup_size];
    } else {
      return {total[4 * j], total[4 * j + 1], total[4 * j + 2], total[4 * j + 3]};
    }
  }

 private:
  __device__ __forceinline__ static void clear_four(float* values) {
    for (int j = 0; j < 4; ++j) values[j] = 0.0F;
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
  for (int i = 0; i < C::registers; i += 4) {
    // Two of 8 columns; a panel of 64 lines has two groups of 64 scales.
    const int column = i * 2;
    const float2 s = *reinterpret_cast<const float2*>(scales_b + column / image_lines * image_scales +
                                                      column % image_lines / 16 * 16 + column % 16 / 8 * 2);
    const float scale[2] = {s.x, s.y};
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      acc[i + j] = __fmaf_rn(__int2float_rn(d[i + j]), __fmul_rn(row[j / 2], scale[j % 2]), acc[i + j]);
    }
  }
}

/// A value times 2^exponent, exact where the result is.
__device__ __forceinline__ float times_power(float value, int exponent) {
  const int half = exponent / 2;
  return __fmul_rn(__fmul_rn(value, pow2f(half)), pow2f(exponent - half));
}

/// The part of C that a thread has: columns 8 j + {0, 1} from a first one in rows 0 and 8 from a first one. Where
/// `whole`, all of it lies inside of C and pairs of columns are aligned.
template <class C, bool whole>
struct Output {
  static constexpr int group = 4;  ///< values of j that are read, finished and written together

  const Task& task;
  std::int64_t matrix;
  std::int64_t row;
  std::int64_t column;

  __device__ __forceinline__ bool has_row(int r) const { return whole || row + 8 * r < task.shape_a.lines; }
  __device__ __forceinline__ bool has_column(int j, int e) const {
    return whole || column + 8 * j + e < task.shape_b.lines;
  }
  __device__ __forceinline__ float* place(int r, int j) const {
    return task.c + (matrix * task.shape_a.lines + row + 8 * r) * task.shape_b.lines + column + 8 * j;
  }

  __device__ __forceinline__ void read(int r, int j, float (&pair)[2]) const {
    if constexpr (whole) {
      const float2 both = *reinterpret_cast<const float2*>(place(r, j));
      pair[0] = both.x;
      pair[1] = both.y;
    } else {
      for (int e = 0; e < 2; ++e) {
        if (has_row(r) && has_column(j, e)) pair[e] = place(r, j)[e];
      }
    }
  }

  __device__ __forceinline__ void write(int r, int j, const float (&pair)[2]) const {
    if constexpr (whole) {
      *reinterpret_cast<float2*>(place(r, j)) = {pair[0], pair[1]};
    } else {
      for (int e = 0; e < 2; ++e) {
        if (has_row(r) && has_column(j, e)) place(r, j)[e] = pair[e];
      }
    }
  }

  __device__ __forceinline__ void column_bases(int j, int (&bases)[2]) const {
    const std::int16_t* first = task.b.bases + matrix * task.shape_b.lines + column + 8 * j;
    if constexpr (whole) {
      const short2 both = __ldg(reinterpret_cast<const short2*>(first));
      bases[0] = both.x;
      bases[1] = both.y;
    } else {
      for (int e = 0; e < 2; ++e) bases[e] = has_column(j, e) ? __ldg(first + e) : 0;
    }
  }

  __device__ __forceinline__ void row_bases(int (&bases)[2]) const {
    const std::int16_t* first = task.a.bases + matrix * task.shape_a.lines + row;
    for (int r = 0; r < 2; ++r) bases[r] = has_row(r) ? __ldg(first + 8 * r) : 0;
  }

  __device__ __forceinline__ void finish(int j, float (&values)[group][2][2]) const {
    const ProductEpilogue& epilogue = task.epilogue;
    const auto each = [&values](auto change) {
#pragma unroll
      for (int i = 0; i < group * 4; ++i) change(values[i / 4][i / 2 % 2][i % 2], i);
    };
    if (epilogue.divisor != 1.0F) each([&](float& y, int) { y = __fdiv_rn(y, epilogue.divisor); });
    if (epilogue.adds_to_c) {
      float old[group][2][2] = {};
#pragma unroll
      for (int i = 0; i < group * 2; ++i) read(i % 2, j + i / 2, old[i / 2][i % 2]);
      each([&](float& y, int i) { y = __fadd_rn(old[i / 4][i / 2 % 2][i % 2], __fmul_rn(epilogue.alpha, y)); });
    }
    each([](float& y, int) { y = y != y ? canonical_nan() : y; });
  }

  __device__ __forceinline__ void store(const Sums<C>& sums) const {
    int rows[2];
    if constexpr (C::mx) row_bases(rows);
#pragma unroll
    for (int first = 0; first < tile_columns / 8; first += group) {
      float values[group][2][2];
#pragma unroll
      for (int i = 0; i < group; ++i) {
        const float4 four = sums.result(first + i);
        const float sum[4] = {four.x, four.y, four.z, four.w};
        int columns[2];
        if constexpr (C::mx) column_bases(first + i, columns);
        for (int k = 0; k < 4; ++k) {
          const int r = k / 2;
          const int e = k % 2;
          values[i][r][e] = sum[k];
          if constexpr (C::mx) values[i][r][e] = times_power(sum[k], rows[r] + columns[e]);
        }
      }
      finish(first, values);
#pragma unroll
      for (int i = 0; i < group * 2; ++i) write(i % 2, first + i / 2, values[i / 2][i % 2]);
    }
  }
};

template <class C>
__device__ __forceinline__ void store(const Task& task, const Sums<C>& sums, const TileWalk::Place& place,
                                      int warpgroup, int thread) {
  const std::int64_t top = std::int64_t{place.row} * C::rows + warpgroup * image_lines;
  const std::int64_t left = std::int64_t{place.column} * tile_columns;
  const std::int64_t row = top + thread / warp_size * 16 + thread % warp_size / 4;
  const std::int64_t column = left + thread % 4 * 2;
  const bool is_whole = top + image_lines <= task.shape_a.lines && left + tile_columns <= task.shape_b.lines;
  const bool has_pairs = task.shape_b.lines % 2 == 0 && reinterpret_cast<std::uintptr_t>(task.c) % sizeof(float2) == 0;
  if (is_whole && has_pairs) {
    Output<C, true>{task, place.matrix, row, column}.store(sums);
  } else {
    Output<C, false>{task, place.matrix, row, column}.store(sums);
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
  typename C::Word product[C::registers];

  __device__ __forceinline__ Consumer(const Shared<C>& memory, int its_warpgroup, int its_thread)
      : shared(memory), warpgroup(its_warpgroup), thread(its_thread) {
    sums.shared_total = shared.totals() + warpgroup * (image_lines * tile_columns / 4) + thread;
  }

  /// The products of block `block` of a tile of K. While one warpgroup waits for them, another adds its own.
  __device__ __forceinline__ void multiply(std::uint64_t a, std::uint64_t b, int block) {
    constexpr std::uint64_t step = wgmma::descriptor_step(32);
    const std::uint64_t k = block * C::instructions * step;
    wgmma::fence();
    wgmma::multiply<false>(product, a + k, b + k);
    if constexpr (C::instructions == 2) wgmma::multiply<true>(product, a + k + step, b + k + step);
    wgmma::commit();
    wgmma::wait<0>();
    wgmma::finished(product);
  }

  /// Tells the producer that this thread has read the stage. Every thread does: one a warp behind __syncwarp() would be
  /// enough, but compute-sanitizer does not see that order.
  __device__ __forceinline__ void release() { shared.empty()[ring.stage].arrive(); }

  __device__ __forceinline__ void add_step() {
    shared.full()[ring.stage].wait(ring.parity);
    const std::uint64_t a = wgmma::descriptor(shared_address(shared.tile(ring.stage, warpgroup)));
    const std::uint64_t b = wgmma::descriptor(shared_address(shared.tile(ring.stage, C::warpgroups)));
#pragma unroll
    for (int block = 0; block < C::blocks; ++block) {
      multiply(a, b, block);
      if constexpr (C::mx) {
        if (block == C::blocks - 1) release();
        add_products<C>(sums.acc, product);
      } else {
        const int row = image_scale(thread / 32 * 16 + thread % 32 / 4);
        const int column = image_scale(thread % 4 * 2);
        add_products<C>(sums.acc, product, shared.scales(ring.stage, warpgroup) + block * image_lines + row,
                        shared.scales(ring.stage, C::warpgroups) + block * image_lines + column);
      }
    }
    if constexpr (!C::mx) release();
    ring.advance();
  }

  __device__ __forceinline__ void add_tile(int steps, int chunk_steps) {
    sums.clear();
#pragma unroll 1
    for (int left = steps; left > 0; left -= chunk_steps) {
#pragma unroll 1
      for (int step = min(left, chunk_steps); step > 0; --step) add_step();
      sums.close_chunk();
    }
  }
};

template <class C>
__device__ __forceinline__ void consume(const Task& task, const Shared<C>& shared, int warpgroup, int thread) {
  Consumer<C> consumer(shared, warpgroup, thread);
#pragma unroll 1
  for (std::uint32_t i = blockIdx.x; i < task.walk.count; i += gridDim.x) {
    const TileWalk::Place place = task.walk.place(i);
    consumer.add_tile(task.steps, task.chunk_steps);
    const std::int64_t row = std::int64_t{place.row} * C::rows + warpgroup * image_lines;
    if (row < task.shape_a.lines && !is_slow(task, place.matrix, row, place.column)) {
      store<C>(task, consumer.sums, place, warpgroup, thread);
    }
  }
}

template <class C>
__global__ void __launch_bounds__(C::threads, 1) multiply_images(const __grid_constant__ Task task) {
  extern __shared__ std::uint8_t memory[];
  Shared<C> shared;
  shared.base = memory + (C::alignment - shared_address(memory) % C::alignment) % C::alignment;
  if (threadIdx.x == 0) {
    for (int i = 0; i < C::stages; ++i) {
      shared.full()[i].initialise(1);
      shared.empty()[i].initialise(C::warpgroups * warpgroup_size);
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
