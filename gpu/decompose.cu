#include "gpu/decompose.h"

#include "formats/block_codec.h"
#include "formats/decomposition.h"
#include "gpu/checks.h"
#include "gpu/ideal_grid.h"
#include "gpu/launch.h"
#include "gpu/load_word.h"
#include "gpu/quantize.h"

namespace fp4proof::gpu {

namespace {

using decomposition::segment_columns;
using decomposition::sum_count;
using decomposition::sum_lanes;

constexpr int count_kinds = 4;
constexpr int tile_width = 64;
constexpr int words_a_lane = tile_width / 32;
constexpr int most_lines = 64;
constexpr std::size_t alignment = 256;

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + alignment - 1) / alignment * alignment; }

/// How a matrix is worked on. A panel is some lines of one matrix that a block of threads works on together, each warp
/// on some of them; a unit of work is one segment of a panel, gone through tile by tile: 64 columns at a time. Lane l
/// has columns l and l + 32 of a tile, as D5 wants it.
template <int warp_count, int lines, bool turned, bool tiled>
struct Shape {
  static constexpr int blocks = warp_count == 8 ? 3 : 1;  ///< that share a multiprocessor
  static constexpr int warps = warp_count;
  static constexpr int threads = 32 * warp_count;
  static constexpr int lines_a_warp = lines;
  static constexpr int panel_lines = warp_count * lines;
  static constexpr bool is_turned = turned;        ///< axis 0: lines run across memory
  static constexpr bool is_2d = tiled;             ///< a panel is as high as a tile of the profile
  static constexpr bool looks_ahead = lines == 1;  ///< whether registers are left to read the next tile early
};

struct Work {
  DecomposeJob job;
  CodedShape shape;
  ConstCoded coded = {};
  double* terms = nullptr;
  double* segment_sums = nullptr;           ///< [batch, lines, segments, sum_count]
  std::uint32_t* segment_counts = nullptr;  ///< [batch, lines, segments, count_kinds]
  std::int64_t panels = 0;                  ///< of a matrix
  std::int64_t segments = 0;                ///< of a line
  IdealGrid grid;
  Magnitude full_scale;
  double full = 0;
  double factor = 0;
};

template <class S>
struct Shared {
  float elements[256];  ///< by code
  float scales[256];    ///< by scale code
  std::uint32_t words[S::is_turned ? S::panel_lines * (tile_width + 1) : 1];
  std::uint32_t block_max[S::is_2d ? tile_width / 32 : 1];
  std::uint32_t part_max[S::is_2d ? most_lines * tile_width / 16 : 1];  ///< HiF4: of 4 x 4 elements
};

/// The sums and counts of one line of a segment in the lane that it belongs to.
struct LaneSums {
  double sums[sum_count] = {};
  std::uint32_t counts = 0;  ///< a byte each; a lane has 128 columns

  __device__ decomposition::ErrorTerms add(decomposition::ScaledElement e) {
    // What is excluded adds zeros, which change no sum: none is ever -0.
    if (e.is_excluded()) {
      counts += 1U;
      e = {};
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

__device__ inline std::uint32_t max_of_lanes(std::uint32_t value, int lanes) {
#pragma unroll
  for (int distance = 1; distance < lanes; distance *= 2) {
    const std::uint32_t other = __shfl_xor_sync(~0U, value, distance);
    value = other > value ? other : value;
  }
  return value;
}

__device__ inline double as_double(std::uint32_t word) { return static_cast<double>(float_from_bits(word)); }

/// 1 / m but for 1 part in 2^48; 0 where m is 0.
__device__ inline double near_reciprocal(double m) {
  double r;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(m));
  r = __fma_rn(r, __fma_rn(-m, r, 1.0), r);
  r = __fma_rn(r, __fma_rn(-m, r, 1.0), r);
  return m == 0.0 ? 0.0 : r;
}

/// The words of one line of a tile that a lane has, and the largest magnitudes around them.
struct LaneWords {
  std::uint32_t word[words_a_lane];
  std::uint32_t block_max[words_a_lane];  ///< finite
  std::uint32_t part_max[words_a_lane];   ///< HiF4: of four columns, infinities included
  std::uint32_t eighth_max[words_a_lane];
};

struct LaneCode {
  std::uint32_t code = 0;
  std::uint32_t scale = 0;
};

/// What a thread reads of a tile: words of the matrix, in the order of memory, and codes and scales of its lane.
template <class S>
struct Fetched {
  std::uint32_t words[S::lines_a_warp * words_a_lane];
  LaneCode codes[S::lines_a_warp][words_a_lane];  ///< where the shape looks ahead
};

template <class S, Family F, bool is_stochastic>
class Panel {
 public:
  __device__ Panel(const Work& work, Shared<S>& shared, std::int64_t batch, std::int64_t first_line)
      : work_(work),
        shared_(shared),
        batch_(batch),
        first_line_(first_line),
        warp_(static_cast<int>(threadIdx.x) / 32),
        lane_(static_cast<int>(threadIdx.x) % 32),
        tensor_scale_(F == Family::nvfp4 && work.coded.tensor_scales != nullptr ? work.coded.tensor_scales[batch]
                                                                                : 1.0F) {}

  /// Line `i` of the warp, counted in the matrix.
  __device__ std::int64_t line(int i) const { return first_line_ + warp_ + i * S::warps; }
  __device__ bool has_line(int i) const { return line(i) < work_.shape.lines; }

  __device__ Fetched<S> fetch(std::int64_t first_column) const {
    Fetched<S> fetched;
#pragma unroll
    for (int i = 0; i < S::lines_a_warp * words_a_lane; ++i) {
      if constexpr (S::is_turned) {
        const int at = i * S::threads + static_cast<int>(threadIdx.x);
        fetched.words[i] = word_of(first_line_ + at % S::panel_lines, first_column + at / S::panel_lines);
      } else {
        fetched.words[i] = word_of(line(i / words_a_lane), first_column + lane_ + 32 * (i % words_a_lane));
      }
    }
    if constexpr (S::looks_ahead) {
#pragma unroll
      for (int i = 0; i < S::lines_a_warp; ++i) {
#pragma unroll
        for (int h = 0; h < words_a_lane; ++h) fetched.codes[i][h] = code_of(i, h, first_column);
      }
    }
    return fetched;
  }

  __device__ void add_tile(std::int64_t first_column, const Fetched<S>& fetched, LaneSums (&sums)[S::lines_a_warp]) {
    LaneWords words[S::lines_a_warp];
    take_words(fetched, words);
    find_maxima(words);
#pragma unroll
    for (int i = 0; i < S::lines_a_warp; ++i) {
      if (has_line(i)) add_line(i, first_column, words[i], fetched, sums[i]);
    }
  }

 private:
  __device__ std::uint32_t word_of(std::int64_t matrix_line, std::int64_t k) const {
    if (matrix_line >= work_.shape.lines || k >= work_.shape.length) return 0;
    const std::int64_t place = work_.job.shape.element(batch_, matrix_line, k);
    return with_dtype(work_.job.dtype, [&]<DType D>() { return load_word<D>(work_.job.input, place); });
  }

  __device__ LaneCode code_of(int i, int h, std::int64_t first_column) const {
    const CodedShape& s = work_.shape;
    const int column = lane_ + 32 * h;
    if (!has_line(i) || first_column + column >= s.length) return {};
    constexpr int block = F == Family::nvfp4 ? 16 : F == Family::hif4 ? 64 : 32;
    const std::int64_t row = batch_ * s.lines + line(i);
    const std::uint8_t* codes = work_.coded.codes + row * s.code_bytes_per_line();
    const std::int64_t scale = row * s.blocks + (first_column / tile_width * (tile_width / block) + column / block);
    LaneCode result;
    if (s.nibbles) {
      result.code = codes[first_column / 2 + column / 2] >> (column % 2 * 4) & 0xFU;
    } else {
      result.code = codes[first_column + column];
    }
    if constexpr (F == Family::hif4) {
      result.scale = reinterpret_cast<const std::uint32_t*>(work_.coded.scales)[scale];
    } else {
      result.scale = work_.coded.scales[scale];
    }
    return result;
  }

  __device__ void take_words(const Fetched<S>& fetched, LaneWords (&words)[S::lines_a_warp]) const {
    if constexpr (S::is_turned) {
      __syncthreads();  // all have read the tile before
#pragma unroll
      for (int i = 0; i < S::lines_a_warp * words_a_lane; ++i) {
        const int at = i * S::threads + static_cast<int>(threadIdx.x);
        shared_.words[at % S::panel_lines * (tile_width + 1) + at / S::panel_lines] = fetched.words[i];
      }
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < S::lines_a_warp; ++i) {
#pragma unroll
      for (int h = 0; h < words_a_lane; ++h) {
        words[i].word[h] = S::is_turned ? shared_.words[(warp_ + i * S::warps) * (tile_width + 1) + lane_ + 32 * h]
                                        : fetched.words[i * words_a_lane + h];
      }
    }
  }

  __device__ void find_maxima(LaneWords (&words)[S::lines_a_warp]) const {
#pragma unroll
    for (int i = 0; i < S::lines_a_warp; ++i) {
#pragma unroll
      for (int h = 0; h < words_a_lane; ++h) {
        const std::uint32_t magnitude = words[i].word[h] & float_magnitude_mask;
        words[i].block_max[h] =
            max_of_lanes(magnitude < float_infinity_bits ? magnitude : 0, F == Family::nvfp4 ? 16 : 32);
        if constexpr (F == Family::hif4) {
          words[i].part_max[h] = max_of_lanes(magnitude <= float_infinity_bits ? magnitude : 0, 4);
          words[i].eighth_max[h] = max(words[i].part_max[h], __shfl_xor_sync(~0U, words[i].part_max[h], 4));
        }
      }
      if constexpr (F == Family::hif4) {
        words[i].block_max[0] = words[i].block_max[1] = max(words[i].block_max[0], words[i].block_max[1]);
      }
    }
    if constexpr (S::is_2d) join_lines(words);
  }

  /// The maxima of whole tiles of the profile from those of their lines.
  __device__ void join_lines(LaneWords (&words)[S::lines_a_warp]) const {
    constexpr int parts_across = tile_width / 4;
    const auto part = [&](int i, int h) {
      return &shared_.part_max[(warp_ + i * S::warps) / 4 * parts_across + (lane_ + 32 * h) / 4];
    };
    __syncthreads();  // all have read the tile before
    for (int k = static_cast<int>(threadIdx.x); k < most_lines * tile_width / 16; k += S::threads) {
      shared_.part_max[k] = 0;
      if (k < words_a_lane) shared_.block_max[k] = 0;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < S::lines_a_warp; ++i) {
#pragma unroll
      for (int h = 0; h < words_a_lane; ++h) {
        if (lane_ == 0) atomicMax(&shared_.block_max[h], words[i].block_max[h]);
        if (F == Family::hif4 && lane_ % 4 == 0) atomicMax(part(i, h), words[i].part_max[h]);
      }
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < S::lines_a_warp; ++i) {
#pragma unroll
      for (int h = 0; h < words_a_lane; ++h) {
        words[i].block_max[h] = shared_.block_max[h];
        if constexpr (F == Family::hif4) {
          const std::uint32_t* here = part(i, h);
          const std::uint32_t* band = part(i, h) + ((warp_ + i * S::warps) / 4 % 2 == 0 ? parts_across : -parts_across);
          const int beside = lane_ / 4 % 2 == 0 ? 1 : -1;
          words[i].part_max[h] = *here;
          words[i].eighth_max[h] = max(max(here[0], here[beside]), max(band[0], band[beside]));
        }
      }
    }
  }

  /// 2^(level bits) of HiF4. max * 7 and m * 2^k are exact; an infinity reaches everything.
  __device__ double level_factor(const LaneWords& words, int h, double m) const {
    if constexpr (F != Family::hif4) return 1.0;
    const bool level2 = as_double(words.eighth_max[h]) * 7.0 >= m * 4.0;
    const double threshold = level2 ? m * 4.0 : m * 2.0;
    const bool level3 = as_double(words.part_max[h]) * 7.0 >= threshold;
    return (level2 ? 2.0 : 1.0) * (level3 ? 2.0 : 1.0);
  }

  /// |F Q*(x)| of a finite x under m = `m`, the word `m_bits`.
  __device__ double ideal_magnitude(const LaneWords& words, int h, double m, double full_over_m, std::int64_t k,
                                    std::int64_t matrix_line) const {
    const double levels = level_factor(words, h, m);
    const std::uint32_t magnitude = words.word[h] & float_magnitude_mask;
    if constexpr (is_stochastic) {
      if (words.block_max[h] == 0 || magnitude >= float_infinity_bits) return 0.0;
      const Profile& profile = work_.job.profile;
      Magnitude scaled = decomposition::over_unit(work_.full_scale, magnitude, magnitude_of_bits(words.block_max[h]));
      scaled.exponent -= levels == 4.0 ? 2 : levels == 2.0 ? 1 : 0;
      const std::uint32_t random = work_.job.random.word(work_.job.shape.element(batch_, matrix_line, k));
      const std::uint8_t code = encode_magnitude(element_spec(profile.element), profile.rounding, scaled,
                                                 random_bits_of_word(random, profile.random_bits), profile.random_bits);
      return m * (static_cast<double>(shared_.elements[code]) * work_.grid.unit * levels);
    } else {
      const double number = as_double(magnitude) * full_over_m * (levels == 4.0 ? 0.25 : levels == 2.0 ? 0.5 : 1.0);
      return m * (ideal_element(work_.grid, number) * (work_.grid.unit * levels));
    }
  }

  __device__ float quantized(const LaneCode& coded, int column) const {
    const auto [code, scale] = coded;
    if constexpr (F == Family::hif4) {
      const int levels = hif4_level2(scale, column) + hif4_level3(scale, column);
      return shared_.scales[hif4_e6m2(scale)] * static_cast<float>(1 << levels) * shared_.elements[code];
    } else {
      const float value = shared_.elements[code] * shared_.scales[scale];
      return F == Family::nvfp4 ? value * tensor_scale_ : value;
    }
  }

  __device__ void add_line(int i, std::int64_t first_column, const LaneWords& words, const Fetched<S>& fetched,
                           LaneSums& sums) const {
    double m[words_a_lane];
    double full_over_m[words_a_lane];
#pragma unroll
    for (int h = 0; h < words_a_lane; ++h) {
      m[h] = as_double(words.block_max[h]);
      full_over_m[h] = is_stochastic ? 0.0 : near_reciprocal(m[h]) * work_.full;
    }
#pragma unroll
    for (int h = 0; h < words_a_lane; ++h) {
      const int column = lane_ + 32 * h;
      const std::int64_t k = first_column + column;
      if (k >= work_.shape.length) break;
      decomposition::ScaledElement element;
      element.input = work_.factor * as_double(words.word[h]);
      const LaneCode coded = S::looks_ahead ? fetched.codes[i][h] : code_of(i, h, first_column);
      element.quantized = work_.factor * static_cast<double>(quantized(coded, column));
      element.ideal = copysign(ideal_magnitude(words, h, m[h], full_over_m[h], k, line(i)), element.input);
      const decomposition::ErrorTerms terms = sums.add(element);
      if (work_.terms == nullptr) continue;
      double* out = work_.terms + ((batch_ * work_.shape.lines + line(i)) * work_.shape.length + k) * 3;
      out[0] = terms.scale;
      out[1] = terms.deadzone;
      out[2] = terms.grid;
    }
  }

  const Work& work_;
  Shared<S>& shared_;
  std::int64_t batch_;
  std::int64_t first_line_;
  int warp_;
  int lane_;
  float tensor_scale_;
};

template <Family F>
__device__ float scale_value(std::uint8_t code) {
  switch (F) {
    case Family::mx: return decode_e8m0(code);
    case Family::hif4: return decode_e6m2(code);
    case Family::nvfp4: return decode_e4m3_scale(code);
  }
  return canonical_nan();
}

template <class S, Family F, bool is_stochastic>
__global__ void __launch_bounds__(S::threads, S::blocks) decompose_segments(const __grid_constant__ Work work) {
  __shared__ Shared<S> shared;
  for (int code = static_cast<int>(threadIdx.x); code < 256; code += S::threads) {
    shared.elements[code] = decode_element(work.job.profile.element, static_cast<std::uint8_t>(code));
    shared.scales[code] = scale_value<F>(static_cast<std::uint8_t>(code));
  }
  __syncthreads();
  const std::int64_t units = work.shape.batch * work.panels * work.segments;
  for (std::int64_t unit = blockIdx.x; unit < units; unit += gridDim.x) {
    const std::int64_t segment = unit % work.segments;
    const std::int64_t panel_number = unit / work.segments % work.panels;
    const std::int64_t batch = unit / work.segments / work.panels;
    const std::int64_t begin = segment * segment_columns;
    const std::int64_t end = begin + segment_columns < work.shape.length ? begin + segment_columns : work.shape.length;
    LaneSums sums[S::lines_a_warp];
    Panel<S, F, is_stochastic> panel(work, shared, batch, panel_number * S::panel_lines);
    Fetched<S> fetched = panel.fetch(begin);
    for (std::int64_t column = begin; column < end; column += tile_width) {
      if constexpr (S::looks_ahead) {
        const Fetched<S> next = panel.fetch(column + tile_width);
        panel.add_tile(column, fetched, sums);
        fetched = next;
      } else {
        if (column != begin) fetched = panel.fetch(column);
        panel.add_tile(column, fetched, sums);
      }
    }
#pragma unroll
    for (int i = 0; i < S::lines_a_warp; ++i) {
      if (!panel.has_line(i)) continue;
      const std::int64_t line = batch * work.shape.lines + panel.line(i);
      sums[i].store(work, line * work.segments + segment, static_cast<int>(threadIdx.x) % 32);
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

bool block_fits(const Profile& profile) {
  const BlockShape block = profile.block;
  switch (profile.family) {
    case Family::mx: return block == BlockShape{1, 32} || block == BlockShape{32, 32};
    case Family::hif4: return block == BlockShape{1, 64} || block == BlockShape{64, 64};
    case Family::nvfp4: return block == BlockShape{1, 16};
  }
  return false;
}

template <class S, Family F>
void launch(Work work, cudaStream_t stream) {
  work.panels = ceil_div(work.shape.lines, S::panel_lines);
  const unsigned grid = grid_for(work.shape.batch * work.panels * work.segments, 1);
  if (work.job.profile.rounding == Rounding::stochastic) {
    decompose_segments<S, F, true><<<grid, S::threads, 0, stream>>>(work);
  } else {
    decompose_segments<S, F, false><<<grid, S::threads, 0, stream>>>(work);
  }
}

template <Family F>
void launch_1d(const Work& work, cudaStream_t stream) {
  if (work.job.shape.axis == 1) {
    launch<Shape<8, 1, false, false>, F>(work, stream);
  } else {
    launch<Shape<8, 1, true, false>, F>(work, stream);
  }
}

template <Family F, int warps, int lines>
void launch_2d(const Work& work, cudaStream_t stream) {
  if (work.job.shape.axis == 1) {
    launch<Shape<warps, lines, false, true>, F>(work, stream);
  } else {
    launch<Shape<warps, lines, true, true>, F>(work, stream);
  }
}

void launch(const Work& work, cudaStream_t stream) {
  const bool is_2d = work.job.profile.block.is_2d();
  switch (work.job.profile.family) {
    case Family::mx: is_2d ? launch_2d<Family::mx, 32, 1>(work, stream) : launch_1d<Family::mx>(work, stream); break;
    case Family::hif4:
      is_2d ? launch_2d<Family::hif4, 16, 4>(work, stream) : launch_1d<Family::hif4>(work, stream);
      break;
    case Family::nvfp4: launch_1d<Family::nvfp4>(work, stream); break;
  }
}

}  // namespace

std::size_t decompose_workspace(const DecomposeJob& job) {
  return block_fits(job.profile) && is_sound(job.shape) ? Workspace(job).end : 0;
}

Status decompose(const DecomposeJob& job, const DecomposeOutput& output, void* workspace, std::size_t workspace_bytes,
                 cudaStream_t stream) {
  const MatrixShape& shape = job.shape;
  if (!is_sound(shape)) return Status::invalid;
  if (!block_fits(job.profile)) return Status::unsupported;
  const Workspace places(job);
  if (workspace_bytes < places.end) return Status::small_workspace;
  if (workspace == nullptr && places.end > 0) return Status::invalid;
  if (!is_aligned(workspace, alignof(double)) || !is_aligned(output.terms, alignof(double)) ||
      !is_aligned(output.sums, alignof(double)) || !is_aligned(output.counts, alignof(std::uint32_t))) {
    return Status::invalid;
  }
  auto* bytes = static_cast<std::uint8_t*>(workspace);
  const bool has_tensor_scale = job.profile.family == Family::nvfp4 && job.profile.tensor_scale;

  Work work = {.job = job,
               .shape = coded_shape(job.profile, shape),
               .terms = output.terms,
               .segment_sums = reinterpret_cast<double*>(bytes),
               .segment_counts = reinterpret_cast<std::uint32_t*>(bytes + places.counts),
               .segments = segments_of(shape),
               .grid = ideal_grid(job.profile),
               .full_scale = decomposition::full_scale(job.profile),
               .factor = static_cast<double>(decomposition::factor(job.profile))};
  work.full = static_cast<double>(work.full_scale.significand) * pow2d(work.full_scale.exponent);
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
