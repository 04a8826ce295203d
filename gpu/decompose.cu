#include "gpu/decompose.h"

#include "formats/block_codec.h"
#include "formats/decomposition.h"
#include "formats/packing.h"
#include "gpu/launch.h"
#include "gpu/load_word.h"
#include "gpu/quantize.h"

namespace fp4proof::gpu {

namespace {

using decomposition::segment_columns;
using decomposition::sum_count;
using decomposition::sum_lanes;

constexpr int count_kinds = 4;
constexpr int warps = 16;
constexpr int threads = 32 * warps;
constexpr int tile_width = 64;
constexpr int tile_words =
    tile_width * (tile_width + 1);  ///< 64 lines at most, each with a word that spreads the banks
constexpr int most_1d_lines = 32;
constexpr int smallest_block = 16;
constexpr std::size_t alignment = 256;

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// A panel is some lines of one matrix that are worked on together: the lines of a tile, neighbours in memory, or as
/// many as there are warps. A unit of work is one segment of a panel.
struct Work {
  DecomposeJob job;
  CodedShape shape;
  ConstCoded coded;
  double* terms;
  double* segment_sums;           ///< [batch, lines, segments, sum_count]
  std::uint32_t* segment_counts;  ///< [batch, lines, segments, count_kinds]
  int panel_lines;
  std::int64_t panels;    ///< of a matrix
  std::int64_t segments;  ///< of a line
  int factor;
  Magnitude full;
};

/// What Q* needs to know of a block.
struct IdealBlock {
  double largest;      ///< m
  double full_over_m;  ///< RN(full scale / m), 0 where m is 0
};

struct Shared {
  double levels[128];
  IdealBlock blocks[most_1d_lines * tile_width / smallest_block];
  std::uint32_t block_max[most_1d_lines * tile_width / smallest_block];
  std::uint32_t part_max[most_1d_lines * tile_width / 4];  ///< HiF4: of four columns, infinities included
  std::uint32_t words[tile_words];
};

/// x full scale / m as a magnitude that lies on the same side of every decision of a deterministic rounding, and on a
/// tie or grid point exactly where x does. Both sides of such a comparison, x full and m tie, are integers of less than
/// 30 bits times a power of two, so they are equal or differ by more than 1 part in 2^30. The product errs by less than
/// two units in the last place, and the nearest number of 41 bits is the tie itself or lies on its side.
__device__ Magnitude near_over_unit(std::uint32_t word, double full_over_m) {
  constexpr std::uint64_t half = std::uint64_t{1} << 11;
  const double quotient = static_cast<double>(float_from_bits(word & float_magnitude_mask)) * full_over_m;
  if (quotient == 0.0) return {};
  const std::uint64_t bits = (bits_as<std::uint64_t>(quotient) + half) & ~(2 * half - 1);
  constexpr std::uint64_t fraction = (std::uint64_t{1} << 52) - 1;
  return {(bits & fraction) | (fraction + 1), static_cast<int>(bits >> 52) - 1075};
}

/// The sums and counts of one line of a segment in the lane that it belongs to.
struct LaneSums {
  double sums[sum_count] = {};
  std::uint32_t counts = 0;  ///< a byte each; a lane has 128 columns

  __device__ decomposition::ErrorTerms add(const decomposition::ScaledElement& e) {
    if (e.is_excluded()) {
      counts += 1U;
      return {};
    }
    const decomposition::ErrorTerms terms = decomposition::terms_of(e);
    const decomposition::Products products = decomposition::products_of(e, terms);
#pragma unroll
    for (int k = 0; k < sum_count; ++k) sums[k] += products.of[k];
    const bool nonzero = e.input != 0.0;
    counts += nonzero && e.in_deadzone() ? 1U << 8 : 0U;
    counts += nonzero && e.quantized == 0.0 ? 1U << 16 : 0U;
    counts += decomposition::terms_are_exact(e) ? 0U : 1U << 24;
    return terms;
  }

  /// Folds the lanes by xor 16, 8, 4, 2, 1 and writes them as line segment `at`.
  __device__ void store(const Work& work, std::int64_t at, int lane) const {
#pragma unroll
    for (int k = 0; k < sum_count; ++k) {
      double sum = sums[k];
#pragma unroll
      for (int distance = sum_lanes / 2; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(~0U, sum, distance);
      }
      if (lane == k) work.segment_sums[at * sum_count + k] = sum;
    }
#pragma unroll
    for (int k = 0; k < count_kinds; ++k) {
      const std::uint32_t count = __reduce_add_sync(~0U, (counts >> (8 * k)) & 0xFFU);
      if (lane == k) work.segment_counts[at * count_kinds + k] = count;
    }
  }
};

/// One tile of a panel: 64 columns of its lines. `lines_a_warp` lines belong to each warp. Where no warp needs the
/// words of another one (`alone`), they do not wait for each other.
template <int lines_a_warp, bool alone>
class Tile {
 public:
  __device__ Tile(const Work& work, Shared& shared, std::int64_t batch, std::int64_t first_line)
      : work_(work),
        shared_(shared),
        batch_(batch),
        first_line_(first_line),
        warp_(static_cast<int>(threadIdx.x) / 32),
        lane_(static_cast<int>(threadIdx.x) % 32),
        block_rows_(work.shape.block_lines),
        part_rows_(block_rows_ > 1 ? 4 : 1),
        is_hif4_(work.job.profile.family == Family::hif4),
        is_stochastic_(work.job.profile.rounding == Rounding::stochastic),
        lines_(work.shape.lines - first_line < work.panel_lines ? static_cast<int>(work.shape.lines - first_line)
                                                                : work.panel_lines) {}

  __device__ void add(std::int64_t first_column, LaneSums (&sums)[lines_a_warp]) {
    first_column_ = first_column;
    load();
    clear_maxima();
    wait();
    find_maxima();
    wait();
    describe_blocks();
    wait();
#pragma unroll
    for (int i = 0; i < lines_a_warp; ++i) {
      const int line = warp_ + i * warps;
      if (line < lines_) add_line(line, sums[i]);
    }
    wait();
  }

 private:
  __device__ static void wait() {
    if constexpr (alone) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }

  __device__ std::uint32_t& word(int line, int column) const { return shared_.words[line * (tile_width + 1) + column]; }
  __device__ int block_of(int line, int column) const {
    return line / block_rows_ * (tile_width / work_.shape.block) + column / work_.shape.block;
  }
  __device__ int part_of(int line, int column) const { return line / part_rows_ * (tile_width / 4) + column / 4; }

  __device__ std::uint32_t load_word(int line, int column) const {
    const std::int64_t k = first_column_ + column;
    if (line >= lines_ || k >= work_.shape.length) return 0;
    const std::int64_t place = work_.job.shape.element(batch_, first_line_ + line, k);
    return with_dtype(work_.job.dtype, [&]<DType D>() { return gpu::load_word<D>(work_.job.input, place); });
  }

  /// Reads along memory.
  __device__ void load() const {
    if (work_.job.shape.axis == 1) {
      for (int line = warp_; line < work_.panel_lines; line += warps) {
        for (int column = lane_; column < tile_width; column += 32) word(line, column) = load_word(line, column);
      }
      return;
    }
    for (int i = static_cast<int>(threadIdx.x); i < work_.panel_lines * tile_width; i += threads) {
      const int column = i / work_.panel_lines;
      const int line = i - column * work_.panel_lines;
      word(line, column) = load_word(line, column);
    }
  }

  __device__ void clear_maxima() const {
    for (int line = warp_; line < work_.panel_lines; line += warps) {
      if (line % block_rows_ == 0 && lane_ < tile_width / work_.shape.block) {
        shared_.block_max[block_of(line, lane_ * work_.shape.block)] = 0;
      }
      if (is_hif4_ && line % part_rows_ == 0 && lane_ < tile_width / 4) shared_.part_max[part_of(line, 4 * lane_)] = 0;
    }
  }

  __device__ static std::uint32_t max_of_lanes(std::uint32_t value, int lanes) {
    for (int distance = 1; distance < lanes; distance *= 2) {
      const std::uint32_t other = __shfl_xor_sync(~0U, value, distance);
      value = other > value ? other : value;
    }
    return value;
  }

  __device__ void find_maxima() const {
    const int lanes = work_.shape.block < 32 ? work_.shape.block : 32;
    for (int line = warp_; line < work_.panel_lines; line += warps) {
      for (int column = lane_; column < tile_width; column += 32) {
        const std::uint32_t magnitude = word(line, column) & float_magnitude_mask;
        const std::uint32_t largest = max_of_lanes(magnitude < float_infinity_bits ? magnitude : 0, lanes);
        if (lane_ % lanes == 0) atomicMax(&shared_.block_max[block_of(line, column)], largest);
        if (!is_hif4_) continue;
        const std::uint32_t part = max_of_lanes(magnitude <= float_infinity_bits ? magnitude : 0, 4);
        if (lane_ % 4 == 0) atomicMax(&shared_.part_max[part_of(line, column)], part);
      }
    }
  }

  __device__ void describe_blocks() const {
    const double full = static_cast<double>(work_.full.significand) * pow2d(work_.full.exponent);
    for (int line = warp_; line < work_.panel_lines; line += warps) {
      if (line % block_rows_ != 0 || lane_ >= tile_width / work_.shape.block) continue;
      const int block = block_of(line, lane_ * work_.shape.block);
      const auto largest = static_cast<double>(float_from_bits(shared_.block_max[block]));
      shared_.blocks[block] = {largest, largest == 0.0 ? 0.0 : full / largest};
    }
  }

  /// The sum of the two level bits of HiF4. max * 7 and m * 2^k are exact; an infinity reaches everything.
  __device__ int level_bits(int line, int column, double largest) const {
    if (!is_hif4_) return 0;
    const auto value = [&](int l, int c) {
      return static_cast<double>(float_from_bits(shared_.part_max[part_of(l, c)]));
    };
    const int eighth = column & ~7;
    double max = fmax(value(line, eighth), value(line, eighth + 4));
    if (block_rows_ > 1) max = fmax(max, fmax(value(line ^ 4, eighth), value(line ^ 4, eighth + 4)));
    const int level2 = max * 7.0 >= largest * 4.0 ? 1 : 0;
    return level2 + (value(line, column) * 7.0 >= largest * (level2 != 0 ? 4.0 : 2.0) ? 1 : 0);
  }

  /// F Q*(x) of a finite x.
  __device__ double ideal(int line, int column, std::int64_t place) const {
    const std::uint32_t w = word(line, column);
    const int block = block_of(line, column);
    const IdealBlock& m = shared_.blocks[block];
    const bool negative = (w & float_sign_mask) != 0;
    if (m.largest == 0.0) return negative ? -0.0 : 0.0;
    const Profile& profile = work_.job.profile;
    const int bits = level_bits(line, column, m.largest);
    Magnitude scaled = is_stochastic_
                           ? decomposition::over_unit(work_.full, w, magnitude_of_bits(shared_.block_max[block]))
                           : near_over_unit(w, m.full_over_m);
    scaled.exponent -= bits;
    const std::uint32_t random =
        is_stochastic_ ? random_bits_of_word(work_.job.random.word(place), profile.random_bits) : 0;
    const std::uint8_t code =
        encode_magnitude(element_spec(profile.element), profile.rounding, scaled, random, profile.random_bits);
    const double value = m.largest * shared_.levels[code] * static_cast<double>(1 << bits);
    return negative ? -value : value;
  }

  __device__ float quantized(std::int64_t line, std::int64_t k) const {
    const CodedShape& s = work_.shape;
    const std::uint8_t byte = work_.coded.codes[line * s.code_bytes_per_line() + (s.nibbles ? k / 2 : k)];
    const auto code = static_cast<std::uint8_t>(s.nibbles ? byte >> (k % 2 * 4) & 0xF : byte);
    const std::uint8_t* scale = work_.coded.scales + (line * s.blocks + k / s.block) * s.bytes_per_scale;
    const std::uint32_t scale_word = is_hif4_ ? load_le32(scale) : *scale;
    const float tensor_scale = work_.coded.tensor_scales != nullptr ? work_.coded.tensor_scales[batch_] : 1.0F;
    return decode_block_element(work_.job.profile, scale_word, tensor_scale, static_cast<int>(k % s.block), code);
  }

  __device__ void add_line(int line, LaneSums& sums) const {
    const std::int64_t global_line = batch_ * work_.shape.lines + first_line_ + line;
    const double factor = work_.factor;
#pragma unroll 1
    for (int column = lane_; column < tile_width; column += 32) {
      const std::int64_t k = first_column_ + column;
      if (k >= work_.shape.length) continue;
      decomposition::ScaledElement element;
      element.input = factor * static_cast<double>(float_from_bits(word(line, column)));
      element.quantized = factor * static_cast<double>(quantized(global_line, k));
      if (!element.is_excluded()) {
        element.ideal = ideal(line, column, work_.job.shape.element(batch_, first_line_ + line, k));
      }
      const decomposition::ErrorTerms terms = sums.add(element);
      if (work_.terms == nullptr) continue;
      double* out = work_.terms + (global_line * work_.shape.length + k) * 3;
      out[0] = terms.scale;
      out[1] = terms.deadzone;
      out[2] = terms.grid;
    }
  }

  const Work& work_;
  Shared& shared_;
  std::int64_t batch_;
  std::int64_t first_line_;
  std::int64_t first_column_ = 0;
  int warp_;
  int lane_;
  int block_rows_;
  int part_rows_;
  bool is_hif4_;
  bool is_stochastic_;
  int lines_;  ///< of the panel that exist
};

template <int lines_a_warp, bool alone>
__global__ void __launch_bounds__(threads) decompose_segments(const __grid_constant__ Work work) {
  __shared__ Shared shared;
  const int max_code = element_spec(work.job.profile.element).max_code;
  for (int code = static_cast<int>(threadIdx.x); code <= max_code; code += threads) {
    shared.levels[code] = decomposition::ideal_level(work.job.profile, static_cast<std::uint8_t>(code));
  }
  __syncthreads();
  const std::int64_t units = work.shape.batch * work.panels * work.segments;
  for (std::int64_t unit = blockIdx.x; unit < units; unit += gridDim.x) {
    const std::int64_t segment = unit % work.segments;
    const std::int64_t panel = unit / work.segments % work.panels;
    const std::int64_t batch = unit / work.segments / work.panels;
    const std::int64_t begin = segment * segment_columns;
    const std::int64_t end = begin + segment_columns < work.shape.length ? begin + segment_columns : work.shape.length;
    LaneSums sums[lines_a_warp];
    Tile<lines_a_warp, alone> tile(work, shared, batch, panel * work.panel_lines);
    for (std::int64_t column = begin; column < end; column += tile_width) tile.add(column, sums);
#pragma unroll
    for (int i = 0; i < lines_a_warp; ++i) {
      const int in_panel = static_cast<int>(threadIdx.x) / 32 + i * warps;
      const std::int64_t line = panel * work.panel_lines + in_panel;
      if (in_panel >= work.panel_lines || line >= work.shape.lines) continue;
      sums[i].store(work, (batch * work.shape.lines + line) * work.segments + segment,
                    static_cast<int>(threadIdx.x) % 32);
    }
  }
}

/// Adds the segments of each line in order.
template <class Number, int kinds>
__global__ void add_segments(const Number* parts, std::int64_t lines, std::int64_t segments, Number* totals) {
  const std::int64_t count = lines * kinds;
  const std::int64_t step = std::int64_t{blockDim.x} * gridDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    Number total = 0;
    for (std::int64_t segment = 0; segment < segments; ++segment) {
      total += parts[(i / kinds * segments + segment) * kinds + i % kinds];
    }
    totals[i] = total;
  }
}

QuantizeJob quantize_job(const DecomposeJob& job) {
  return {.profile = job.profile, .dtype = job.dtype, .shape = job.shape, .input = job.input, .random = job.random};
}

std::int64_t segments_of(const MatrixShape& shape) { return ceil_div(shape.length(), segment_columns); }

/// Where the parts of the workspace begin.
struct Workspace {
  std::size_t counts;
  std::size_t codes;
  std::size_t scales;
  std::size_t tensor_scales;
  std::size_t quantize;
  std::size_t end;

  explicit Workspace(const DecomposeJob& job) {
    const CodedShape coded = coded_shape(job.profile, job.shape);
    const auto rows = static_cast<std::size_t>(job.shape.batch * job.shape.lines() * segments_of(job.shape));
    counts = aligned(rows * sum_count * sizeof(double));
    codes = counts + aligned(rows * count_kinds * sizeof(std::uint32_t));
    scales = codes + aligned(static_cast<std::size_t>(coded.code_bytes()));
    tensor_scales = scales + aligned(static_cast<std::size_t>(coded.scale_bytes()));
    quantize = tensor_scales + aligned(static_cast<std::size_t>(job.shape.batch) * sizeof(float));
    end = quantize + quantize_workspace(quantize_job(job));
  }
};

bool block_fits(const BlockShape& block) {
  const bool columns_fit = block.cols == 16 || block.cols == 32 || block.cols == 64;
  const bool rows_fit = block.rows == 1 || block.rows == 2 * warps || block.rows == 4 * warps;
  return columns_fit && rows_fit;
}

int panel_lines_of(const DecomposeJob& job) {
  if (job.profile.block.is_2d()) return job.profile.block.rows;
  return job.shape.axis == 1 ? warps : most_1d_lines;
}

void launch(const Work& work, cudaStream_t stream) {
  const unsigned grid = grid_for(work.shape.batch * work.panels * work.segments, 1);
  if (work.panel_lines == warps) {
    decompose_segments<1, true><<<grid, threads, 0, stream>>>(work);
  } else if (work.panel_lines <= 2 * warps) {
    decompose_segments<2, false><<<grid, threads, 0, stream>>>(work);
  } else {
    decompose_segments<4, false><<<grid, threads, 0, stream>>>(work);
  }
}

}  // namespace

std::size_t decompose_workspace(const DecomposeJob& job) { return Workspace(job).end; }

Status decompose(const DecomposeJob& job, const DecomposeOutput& output, void* workspace, std::size_t workspace_bytes,
                 cudaStream_t stream) {
  const MatrixShape& shape = job.shape;
  if (shape.batch < 0 || shape.rows < 0 || shape.columns < 0 || (shape.axis != 0 && shape.axis != 1)) {
    return Status::invalid;
  }
  if (!block_fits(job.profile.block)) return Status::unsupported;
  const Workspace places(job);
  if (workspace_bytes < places.end) return Status::small_workspace;
  if (workspace == nullptr && places.end > 0) return Status::invalid;
  auto* bytes = static_cast<std::uint8_t*>(workspace);
  const bool has_tensor_scale = job.profile.family == Family::nvfp4 && job.profile.tensor_scale;

  Work work;
  work.job = job;
  work.shape = coded_shape(job.profile, shape);
  work.terms = output.terms;
  work.segment_sums = reinterpret_cast<double*>(bytes);
  work.segment_counts = reinterpret_cast<std::uint32_t*>(bytes + places.counts);
  work.panel_lines = panel_lines_of(job);
  work.panels = ceil_div(shape.lines(), work.panel_lines);
  work.segments = segments_of(shape);
  work.factor = decomposition::factor(job.profile);
  work.full = decomposition::full_scale(job.profile);
  if (shape.elements() > 0) {
    if (job.input == nullptr) return Status::invalid;
    const Coded coded = {bytes + places.codes, bytes + places.scales,
                         has_tensor_scale ? reinterpret_cast<float*>(bytes + places.tensor_scales) : nullptr};
    const Status quantized =
        quantize(quantize_job(job), coded, bytes + places.quantize, places.end - places.quantize, stream);
    if (quantized != Status::ok) return quantized;
    work.coded = coded;
    launch(work, stream);
  }
  const std::int64_t lines = shape.batch * shape.lines();
  constexpr int per_block = 256;
  if (output.sums != nullptr && lines > 0) {
    add_segments<double, sum_count><<<grid_for(lines * sum_count, per_block), per_block, 0, stream>>>(
        work.segment_sums, lines, work.segments, output.sums);
  }
  if (output.counts != nullptr && lines > 0) {
    add_segments<std::uint32_t, count_kinds><<<grid_for(lines * count_kinds, per_block), per_block, 0, stream>>>(
        work.segment_counts, lines, work.segments, output.counts);
  }
  return launch_status();
}

}  // namespace fp4proof::gpu
