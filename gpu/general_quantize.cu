// Every profile, axis, tile and layout by one kernel. A thread block brings a tile of the matrix into shared memory,
// reading along the rows of the matrix; scans it in units of 8 elements along the block axis; finds the scale of each
// block; and codes unit after unit. All decisions are those of formats/.

#include "formats/hif4.h"
#include "formats/mx.h"
#include "formats/nvfp4.h"
#include "formats/packing.h"
#include "formats/three_quarters.h"
#include "gpu/general_quantize.h"
#include "gpu/launch.h"
#include "gpu/load_word.h"

namespace fp4proof::gpu {

namespace {

constexpr int threads = 256;
constexpr int tile_elements = 4096;  ///< a 64x64 tile of HiF4 is one block
constexpr int unit = 8;              ///< divides every block length
constexpr int most_blocks = tile_elements / unit;
constexpr int most_level3_parts = tile_elements / 4;
constexpr int most_bands = tile_elements / 64;

/// How the coded matrix is cut into tiles of lines x length elements, both powers of two.
struct Cut {
  int log2_lines = 0;
  int log2_length = 0;
  std::int64_t across = 0;      ///< tiles along a line
  std::int64_t per_matrix = 0;  ///< tiles of a matrix
  std::int64_t tiles = 0;

  FP4PROOF_HD constexpr int lines() const { return 1 << log2_lines; }
  FP4PROOF_HD constexpr int length() const { return 1 << log2_length; }
  /// Words between the lines of a tile in shared memory: odd, so that columns are free of bank conflicts.
  FP4PROOF_HD constexpr int pitch() const { return (length() + length() / 32) | 1; }
  /// Place of an element in shared memory. One word is left free after each 32, so that units are free of conflicts.
  FP4PROOF_HD constexpr int slot(int line, int k) const { return line * pitch() + k + k / 32; }
  FP4PROOF_HD constexpr int slots() const { return lines() * pitch(); }
};

struct Work {
  QuantizeJob job;
  CodedShape shape;
  Coded coded;
  Cut cut;
};

/// Where a tile stands: first line and first element along the block axis.
struct Corner {
  std::int64_t matrix;
  std::int64_t line;
  std::int64_t k;
};

/// Choices that a kernel knows when it is compiled; the others are read from the profile.
enum class Fixed : std::uint8_t {
  family,        ///< the family alone
  any_element,   ///< exact arithmetic, ties to even (MX)
  nearest_even,  ///< these and the family's usual element
  nearest_away,
  stochastic,
};

FP4PROOF_HD constexpr Element usual_element(Family family) {
  return family == Family::hif4 ? Element::s1p2 : Element::e2m1;
}

/// The kernel that knows most about a profile.
constexpr Fixed fixed_choices(const Profile& profile) {
  if (profile.element_arithmetic != ElementArithmetic::exact) return Fixed::family;
  if (profile.element != usual_element(profile.family)) {
    return profile.family == Family::mx && profile.rounding == Rounding::rne ? Fixed::any_element : Fixed::family;
  }
  switch (profile.rounding) {
    case Rounding::rne: return Fixed::nearest_even;
    case Rounding::rna: return Fixed::nearest_away;
    case Rounding::stochastic: return Fixed::stochastic;
    default: return Fixed::family;
  }
}

/// The same profile, but the compiler sees what is fixed.
template <Family F, Fixed X>
FP4PROOF_HD constexpr Profile with_fixed_choices(Profile profile) {
  profile.family = F;
  if constexpr (X != Fixed::family) {
    profile.element_arithmetic = ElementArithmetic::exact;
    profile.rounding = X == Fixed::nearest_away ? Rounding::rna
                       : X == Fixed::stochastic ? Rounding::stochastic
                                                : Rounding::rne;
    if constexpr (X != Fixed::any_element) profile.element = usual_element(F);
  }
  return profile;
}

/// The profile for words that are prepared already.
FP4PROOF_HD constexpr Profile without_preparation(Profile profile) {
  profile.input_rounding = InputRounding::none;
  profile.tiny = TinyPolicy::clamp;
  return profile;
}

/// What a tile knows about its blocks. Block (line band, block of the line) has number band * blocks of a line + block.
template <Family F>
struct BlockTable {
  std::uint32_t amax[most_blocks];
  std::uint32_t specials[most_blocks];  ///< bit 0: NaN, bit 1: infinity
  std::uint8_t scale[most_blocks];
  MxCoding coding[most_blocks];
};

/// HiF4 keeps the maxima of its level-3 parts, and a scale word for each band of rows that shares it.
template <>
struct BlockTable<Family::hif4> {
  std::uint32_t amax[most_bands];
  std::uint32_t specials[most_bands];
  std::uint32_t part_max[most_level3_parts];
  std::uint32_t word[most_bands];
};

template <Family F, Fixed X>
class Tile {
 public:
  __device__ Tile(const Work& work, BlockTable<F>& blocks, std::uint32_t* words, std::uint32_t* random, Corner corner)
      : work_(work),
        profile_(with_fixed_choices<F, X>(work.job.profile)),
        cut_(work.cut),
        blocks_(blocks),
        words_(words),
        random_(random),
        corner_(corner),
        log2_rows_(top_bit(profile_.block.rows)),
        log2_cols_(top_bit(profile_.block.cols)),
        log2_band_rows_(F == Family::hif4 ? top_bit(static_cast<unsigned>(hif4_level3_rows(profile_))) : 0) {}

  __device__ void clear() {
    for (int i = threadIdx.x; i < block_count(); i += threads) {
      blocks_.amax[i] = 0;
      blocks_.specials[i] = 0;
    }
    if constexpr (F == Family::hif4) {
      for (int i = threadIdx.x; i < part_count(); i += threads) blocks_.part_max[i] = 0;
    }
  }

  /// Words of the input, prepared, and zeros where there is no input.
  __device__ void load() {
    with_dtype(work_.job.dtype, [&]<DType D>() {
      for_each_place([&](int slot, std::int64_t input, bool exists) {
        words_[slot] = prepared_word(profile_, exists ? load_word<D>(work_.job.input, input) : 0);
      });
    });
  }

  __device__ void draw_random() {
    const RandomSource& source = work_.job.random;
    if (source.words != nullptr) {
      for_each_place([&](int slot, std::int64_t input, bool exists) {
        if (exists) random_[slot] = source.words[input];
      });
      return;
    }
    const int quads = run() / 4 + 1;  // of a run of neighbours in the input, which may begin inside a quad
    for (int i = threadIdx.x; i < (tile_elements >> log2_run()) * quads; i += threads) {
      const int run_number = i / quads;
      if (run_number >= existing_runs()) continue;
      const std::int64_t start = place_of(run_number, 0);
      const std::int64_t first = (start & ~std::int64_t{3}) + 4 * (i - run_number * quads);
      const PhiloxBlock drawn =
          random_block(source.seed, source.stream, source.step, static_cast<std::uint64_t>(first));
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const auto within = static_cast<int>(first + j - start);
        if (within >= 0 && within < run()) random_[slot_of(run_number, within)] = drawn.word[j];
      }
    }
  }

  __device__ void scan() {
    const Profile prepared = without_preparation(profile_);
    for (int u = threadIdx.x; u < tile_elements / unit; u += threads) {
      const Unit at = unit_at(u);
      const std::uint32_t* words = words_ + at.slot;
      const BlockScan scan = scan_block(prepared, words, unit);
      const int block = block_of(at.line, at.k);
      atomicMax(&blocks_.amax[block], scan.amax_bits);
      const std::uint32_t specials = (scan.has_nan ? 1U : 0U) | (scan.has_inf ? 2U : 0U);
      if (specials != 0) atomicOr(&blocks_.specials[block], specials);
      if constexpr (F == Family::hif4) {
        for (int half = 0; half < 2; ++half) {
          const std::uint32_t max = hif4_detail::part_max(prepared, words, 0, 4 * half, 1, 4);
          atomicMax(&blocks_.part_max[part_of(at.line, at.k) + half], max);
        }
      }
    }
  }

  __device__ void find_scales() {
    for (int i = threadIdx.x; i < block_count(); i += threads) {
      const BlockScan scan{blocks_.amax[i], (blocks_.specials[i] & 1U) != 0, (blocks_.specials[i] & 2U) != 0};
      if constexpr (F == Family::mx) {
        const std::uint8_t scale = mx_block_scale(profile_, scan);
        const MxCoding coding = mx_coding(profile_, scan, scale);
        blocks_.scale[i] = scale;
        blocks_.coding[i] = work_.job.three_quarters && coding != MxCoding::none ? MxCoding::scaled : coding;
      } else if constexpr (F == Family::nvfp4) {
        blocks_.scale[i] = nvfp4_block_scale(profile_, scan, tensor_scale());
      } else {
        const std::uint8_t e6m2 = hif4_block_scale(profile_, scan);
        const int bands = profile_.block.rows >> log2_band_rows_;
        const int across = blocks_across();
        const int first = i / across * bands * across + i % across;
        for (int band = 0; band < bands; ++band) blocks_.word[first + band * across] = e6m2;
      }
    }
  }

  /// HiF4: the level bits, one level-3 part after the other.
  __device__ void find_levels() requires(F == Family::hif4) {
    const int parts_across = cut_.length() / 4;
    const int level2_bands = hif4_level2_rows(profile_) / hif4_level3_rows(profile_);
    for (int i = threadIdx.x; i < part_count(); i += threads) {
      const int band = i / parts_across;
      const int part = i % parts_across;
      std::uint32_t* word = &blocks_.word[band * blocks_across() + part / hif4_level3_count];
      const std::uint8_t e6m2 = hif4_e6m2(*word);
      if (e6m2 == e6m2_nan) continue;
      const std::uint32_t max3 = blocks_.part_max[i];
      std::uint32_t max2 = 0;
      for (int b = 0; b < level2_bands; ++b) {
        const int first = (band - band % level2_bands + b) * parts_across + part - part % 2;
        max2 = max(max2, max(blocks_.part_max[first], blocks_.part_max[first + 1]));
      }
      const bool level2 = hif4_level2_bit(profile_, e6m2, max2);
      const bool level3 = hif4_level3_bit(profile_, e6m2, max3, level2);
      const int within = part % hif4_level3_count;
      atomicOr(word, hif4_word(0, std::uint32_t{level2} << (within / 2), std::uint32_t{level3} << within));
    }
  }

  __device__ void store_codes() {
    const int log2_bits = work_.shape.nibbles ? 2 : 3;
    for (int u = threadIdx.x; u < tile_elements / unit; u += threads) {
      const Unit at = unit_at(u);
      if (corner_.line + at.line >= work_.shape.lines || corner_.k + at.k >= work_.shape.padded_length()) continue;
      const UnitScale scale = scale_of(at.line, at.k);
      std::uint64_t packed = 0;
#pragma unroll X == Fixed::family ? 1 : 4
      for (int j = 0; j < unit; ++j) {
        const std::uint32_t random = random_ != nullptr ? random_[at.slot + j] : 0;
        packed |= std::uint64_t{code_of(scale, at.k + j, words_[at.slot + j], random)} << (j << log2_bits);
      }
      const std::int64_t row = corner_.matrix * work_.shape.lines + corner_.line + at.line;
      const std::int64_t k = corner_.k + at.k;
      std::uint8_t* out = work_.coded.codes + row * work_.shape.code_bytes_per_line();
      if (work_.shape.nibbles) {
        store_bytes(static_cast<std::uint32_t>(packed), out + k / 2);
      } else {
        store_bytes(packed, out + k);
      }
    }
  }

  __device__ void store_scales() {
    const int across = blocks_across();
    for (int i = threadIdx.x; i < cut_.lines() * across; i += threads) {
      const int line = i / across;
      const int block = i % across;
      const std::int64_t row = corner_.line + line;
      const std::int64_t column = (corner_.k >> log2_cols_) + block;
      if (row >= work_.shape.lines || column >= work_.shape.blocks) continue;
      std::uint8_t* scales = work_.coded.scales + corner_.matrix * work_.shape.scale_bytes_per_matrix();
      const ScaleGrid grid = work_.shape.scale_grid();
      const auto offset = [&](int byte) {
        return scale_offset(work_.shape.layout, grid, static_cast<std::size_t>(row), static_cast<std::size_t>(column),
                            static_cast<std::size_t>(byte));
      };
      if constexpr (F == Family::hif4) {
        const std::uint32_t word = blocks_.word[word_of(line, block << log2_cols_)];
        for (int byte = 0; byte < 4; ++byte) scales[offset(byte)] = static_cast<std::uint8_t>(word >> (8 * byte));
      } else {
        scales[offset(0)] = blocks_.scale[block_of(line, block << log2_cols_)];
      }
    }
  }

 private:
  struct Unit {
    int line;
    int k;
    int slot;
  };
  /// What the elements of a unit are coded under.
  struct UnitScale {
    std::uint32_t scale;
    MxCoding coding;
  };

  /// A run: neighbours in the input that belong to the tile.
  __device__ int log2_run() const { return work_.job.shape.axis == 1 ? cut_.log2_length : cut_.log2_lines; }
  __device__ int run() const { return 1 << log2_run(); }
  __device__ bool along_runs() const { return work_.job.shape.axis == 1; }
  __device__ int slot_of(int run_number, int within) const {
    return along_runs() ? cut_.slot(run_number, within) : cut_.slot(within, run_number);
  }
  __device__ std::int64_t place_of(int run_number, int within) const {
    const int line = along_runs() ? run_number : within;
    const int k = along_runs() ? within : run_number;
    return work_.job.shape.element(corner_.matrix, corner_.line + line, corner_.k + k);
  }
  /// Runs of the tile that lie in the matrix, and elements of a run that do.
  __device__ int existing_runs() const { return along_runs() ? existing_lines() : existing_length(); }
  __device__ int existing_in_run() const { return along_runs() ? existing_length() : existing_lines(); }
  __device__ int existing_lines() const {
    return static_cast<int>(min(std::int64_t{cut_.lines()}, work_.shape.lines - corner_.line));
  }
  __device__ int existing_length() const {
    return static_cast<int>(min(std::int64_t{cut_.length()}, work_.shape.length - corner_.k));
  }

  /// Calls use(slot, place in the input, whether there is such a place) for each element, neighbours by neighbours.
  template <class Use>
  __device__ void for_each_place(Use use) const {
    const int within = threadIdx.x & (run() - 1);
    const int first_run = threadIdx.x >> log2_run();
    const int run_step = threads >> log2_run();
    const int runs = within < existing_in_run() ? existing_runs() : 0;
    const std::int64_t step = run_step * work_.job.shape.columns;
    std::int64_t input = place_of(first_run, within);
#pragma unroll 8
    for (int r = first_run; r < tile_elements >> log2_run(); r += run_step) {
      use(slot_of(r, within), input, r < runs);
      input += step;
    }
  }

  __device__ Unit unit_at(int u) const {
    const int line = u >> (cut_.log2_length - 3);
    const int k = (u << 3) & (cut_.length() - 1);
    return {line, k, cut_.slot(line, k)};
  }

  __device__ int blocks_across() const { return cut_.length() >> log2_cols_; }
  __device__ int block_count() const { return tile_elements >> (log2_rows_ + log2_cols_); }
  __device__ int block_of(int line, int k) const { return (line >> log2_rows_) * blocks_across() + (k >> log2_cols_); }
  __device__ int part_count() const { return tile_elements / 4 >> log2_band_rows_; }
  __device__ int part_of(int line, int k) const { return (line >> log2_band_rows_) * (cut_.length() / 4) + k / 4; }
  __device__ int word_of(int line, int k) const {
    return (line >> log2_band_rows_) * blocks_across() + (k >> log2_cols_);
  }
  __device__ float tensor_scale() const {
    return profile_.tensor_scale ? work_.coded.tensor_scales[corner_.matrix] : 1.0F;
  }

  __device__ UnitScale scale_of(int line, int k) const {
    if constexpr (F == Family::hif4) {
      return {blocks_.word[word_of(line, k)], MxCoding::scaled};
    } else {
      const int block = block_of(line, k);
      return {blocks_.scale[block], F == Family::mx ? blocks_.coding[block] : MxCoding::scaled};
    }
  }

  __device__ std::uint8_t code_of(const UnitScale& at, int k, std::uint32_t word, std::uint32_t random) const {
    const auto scale = static_cast<std::uint8_t>(at.scale);
    if constexpr (F == Family::mx) {
      const std::uint32_t coded = work_.job.three_quarters ? three_quarters_of(word) : word;
      return mx_element_code(profile_, at.coding, scale, coded, random);
    } else if constexpr (F == Family::nvfp4) {
      if (scale == e4m3_scale_nan) return 0;
      return nvfp4_encode_element(profile_, scale, tensor_scale(), word, random);
    } else {
      if (scale == e6m2_nan) return 0;
      const int column = k & (profile_.block.cols - 1);
      const int levels = hif4_level2(at.scale, column) + hif4_level3(at.scale, column);
      return hif4_encode_element(profile_, scale, levels, word, random);
    }
  }

  /// One store where the place is aligned, else byte after byte.
  template <class Word>
  __device__ static void store_bytes(Word word, std::uint8_t* out) {
    if (reinterpret_cast<std::uintptr_t>(out) % sizeof(Word) == 0) {
      *reinterpret_cast<Word*>(out) = word;
      return;
    }
    for (std::size_t i = 0; i < sizeof(Word); ++i) out[i] = static_cast<std::uint8_t>(word >> (8 * i));
  }

  const Work& work_;
  const Profile profile_;
  const Cut& cut_;
  BlockTable<F>& blocks_;
  std::uint32_t* words_;
  std::uint32_t* random_;
  Corner corner_;
  int log2_rows_;
  int log2_cols_;
  int log2_band_rows_;
};

template <Family F, Fixed X>
__global__ void __launch_bounds__(threads) quantize_tiles(const __grid_constant__ Work work) {
  extern __shared__ std::uint32_t shared_words[];
  __shared__ BlockTable<F> blocks;
  const bool stochastic = work.job.profile.rounding == Rounding::stochastic;
  std::uint32_t* random = stochastic ? shared_words + work.cut.slots() : nullptr;
  for (std::int64_t i = blockIdx.x; i < work.cut.tiles; i += gridDim.x) {
    const std::int64_t matrix = i / work.cut.per_matrix;
    const std::int64_t within = i - matrix * work.cut.per_matrix;
    const std::int64_t down = within / work.cut.across;
    const Corner corner{matrix, down << work.cut.log2_lines, (within - down * work.cut.across) << work.cut.log2_length};
    Tile<F, X> tile(work, blocks, shared_words, random, corner);
    tile.clear();
    tile.load();
    if (stochastic) tile.draw_random();
    __syncthreads();
    tile.scan();
    __syncthreads();
    tile.find_scales();
    __syncthreads();
    if constexpr (F == Family::hif4) {
      tile.find_levels();
      __syncthreads();
    }
    tile.store_codes();
    tile.store_scales();
    __syncthreads();
  }
}

/// Tiles are 64 x 64 where lines or 2D blocks are read across; else as long as the lines, up to 256.
Cut cut_of(const QuantizeJob& job, const CodedShape& shape) {
  Cut cut;
  cut.log2_length = 6;
  if (job.shape.axis == 1 && shape.block_lines == 1) {
    while (cut.log2_length < 8 && cut.length() < shape.padded_length()) ++cut.log2_length;
  }
  cut.log2_lines = top_bit(tile_elements) - cut.log2_length;
  cut.across = ceil_div(shape.padded_length(), cut.length());
  cut.per_matrix = cut.across * ceil_div(shape.lines, cut.lines());
  cut.tiles = cut.per_matrix * shape.batch;
  return cut;
}

template <Family F, Fixed X>
Status launch(const Work& work, cudaStream_t stream) {
  const int arrays = work.job.profile.rounding == Rounding::stochastic ? 2 : 1;
  const std::size_t bytes = sizeof(std::uint32_t) * static_cast<std::size_t>(arrays * work.cut.slots());
  quantize_tiles<F, X><<<grid_for(work.cut.tiles, 1), threads, bytes, stream>>>(work);
  return launch_status();
}

template <Family F>
Status launch(const Work& work, cudaStream_t stream) {
  switch (fixed_choices(work.job.profile)) {
    case Fixed::family: return launch<F, Fixed::family>(work, stream);
    case Fixed::any_element: return launch < F, F == Family::mx ? Fixed::any_element : Fixed::family > (work, stream);
    case Fixed::nearest_even: return launch<F, Fixed::nearest_even>(work, stream);
    case Fixed::nearest_away: return launch<F, Fixed::nearest_away>(work, stream);
    case Fixed::stochastic: return launch<F, Fixed::stochastic>(work, stream);
  }
  return Status::unsupported;
}

}  // namespace

Status general_quantize(const QuantizeJob& job, const Coded& coded, cudaStream_t stream) {
  const CodedShape shape = coded_shape(job.profile, job.shape, job.scale_layout);
  const Work work{job, shape, coded, cut_of(job, shape)};
  switch (job.profile.family) {
    case Family::mx: return launch<Family::mx>(work, stream);
    case Family::hif4: return launch<Family::hif4>(work, stream);
    case Family::nvfp4: return launch<Family::nvfp4>(work, stream);
  }
  return Status::unsupported;
}

}  // namespace fp4proof::gpu
