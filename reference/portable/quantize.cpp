#include "reference/portable/quantize.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "reference/portable/level_kernels.h"
#include "reference/portable/random_words.h"
#include "reference/portable/run_encoder.h"

namespace fp4proof::portable {

namespace {

constexpr int max_run_words = std::max(blocks_per_run * 64, max_block_size);

/// A run: consecutive blocks of one row, or the same block of consecutive rows, or one 2D tile.
struct Run {
  std::int64_t row = 0;
  std::int64_t block = 0;
  int rows = 1;
  int blocks = 1;
};

/// Lists the runs of rows [begin, end) without storing them.
class Runs {
 public:
  Runs(const Profile& profile, const Geometry& g, std::int64_t begin, std::int64_t end)
      : geometry_(g), tile_rows_(profile.block.rows), begin_(begin), end_(end) {
    along_columns_ = tile_rows_ == 1 && g.inner == 1;
    blocks_per_step_ = along_columns_ ? blocks_per_run : 1;
    rows_per_step_ = tile_rows_ > 1 ? tile_rows_ : along_columns_ ? 1 : blocks_per_run;
    steps_per_row_ = (g.blocks + blocks_per_step_ - 1) / blocks_per_step_;
    period_ = std::max<std::int64_t>(tile_rows_ > 1 ? g.matrix_rows : g.inner, 1);  // an empty matrix has no rows
    panels_per_period_ = (period_ + rows_per_step_ - 1) / rows_per_step_;
    first_panel_ = panel_of(begin);
    panels_ = end > begin ? panel_of(end - 1) - first_panel_ + 1 : 0;
  }

  std::int64_t count() const { return panels_ * steps_per_row_; }

  Run at(std::int64_t index) const {
    const std::int64_t panel = first_panel_ + index / steps_per_row_;
    const std::int64_t start = panel / panels_per_period_ * period_ + panel % panels_per_period_ * rows_per_step_;
    const std::int64_t stop = std::min(start + rows_per_step_, (panel / panels_per_period_ + 1) * period_);
    Run run;
    run.row = std::max(start, begin_);
    run.rows = static_cast<int>(std::min(stop, end_) - run.row);
    run.block = index % steps_per_row_ * blocks_per_step_;
    run.blocks = static_cast<int>(std::min<std::int64_t>(blocks_per_step_, geometry_.blocks - run.block));
    return run;
  }

 private:
  std::int64_t panel_of(std::int64_t row) const {
    return row / period_ * panels_per_period_ + row % period_ / rows_per_step_;
  }

  const Geometry& geometry_;
  std::int64_t tile_rows_;
  std::int64_t begin_;
  std::int64_t end_;
  bool along_columns_ = false;
  std::int64_t blocks_per_step_ = 1;
  std::int64_t rows_per_step_ = 1;
  std::int64_t steps_per_row_ = 1;
  std::int64_t period_ = 1;
  std::int64_t panels_per_period_ = 1;
  std::int64_t first_panel_ = 0;
  std::int64_t panels_ = 0;
};

/// Everything that a worker needs for one call of quantize_rows.
struct Job {
  const Profile& profile;
  const TensorView& tensor;
  const Geometry& geometry;
  const QuantizeOptions& options;
  const RunEncoder& encoder;
  std::int64_t begin;
  std::uint8_t* codes;
  std::uint8_t* scales;
};

struct Scratch {
  std::array<std::uint32_t, max_run_words> words;
  std::array<std::uint32_t, max_run_words> random;
  std::array<std::uint8_t, max_run_words> codes;
  std::array<std::uint32_t, std::max(blocks_per_run, max_block_rows)> row_scales;
};

/// Calls visit(slot, row, column, count) for each piece of a run that is contiguous along the columns: `slot` is its
/// place in the scratch arrays, `count` the elements that exist (the rest up to the block length is padding).
template <class Visit>
void for_each_piece(const Job& job, const Run& run, Visit visit) {
  const Geometry& g = job.geometry;
  const int width = job.profile.block.cols * run.blocks;
  for (int r = 0; r < run.rows; ++r) {
    const std::int64_t column = run.block * job.profile.block.cols;
    const std::int64_t count = std::clamp<std::int64_t>(g.columns - column, 0, width);
    visit(r * width, run.row + r, column, static_cast<int>(count));
  }
}

void load_run(const Job& job, const Run& run, Scratch& scratch) {
  const Geometry& g = job.geometry;
  const int width = job.profile.block.cols * run.blocks;
  const bool stores_all_rows = run.rows == job.profile.block.rows || job.profile.block.rows == 1;
  if (!stores_all_rows) scratch.words.fill(0);
  for_each_piece(job, run, [&](int slot, std::int64_t row, std::int64_t column, int count) {
    std::uint32_t* words = scratch.words.data() + slot;
    if (count < width) std::fill(words + count, words + width, 0U);
    if (g.inner == 1) load_words(job.tensor, g.first_element(row) + column, 1, count, words);
  });
  if (g.inner == 1) return;
  // Strided: read along memory, one column of the run at a time.
  std::array<std::uint32_t, max_block_rows> line;
  const std::int64_t first_column = run.block * job.profile.block.cols;
  const auto columns = static_cast<int>(std::clamp<std::int64_t>(g.columns - first_column, 0, width));
  for (int c = 0; c < columns; ++c) {
    int r = 0;
    while (r < run.rows) {  // rows are neighbours in memory up to the end of the inner extent
      const std::int64_t row = run.row + r;
      const auto together = static_cast<int>(std::min<std::int64_t>(run.rows - r, g.inner - row % g.inner));
      load_words(job.tensor, g.first_element(row) + (first_column + c) * g.inner, 1, together, line.data());
      for (int i = 0; i < together; ++i)
        scratch.words[static_cast<std::size_t>((r + i) * width + c)] = line[static_cast<std::size_t>(i)];
      r += together;
    }
  }
}

void draw_random(const Job& job, const Run& run, Scratch& scratch) {
  const Geometry& g = job.geometry;
  const std::span<const std::uint32_t> given = job.options.random_words;
  for_each_piece(job, run, [&](int slot, std::int64_t row, std::int64_t column, int count) {
    if (g.inner == 1) {
      const std::int64_t first = g.first_element(row) + column;
      if (given.empty()) {
        draw_random_words(job.options.seed, job.options.stream, job.options.step,
                          job.options.first_element + static_cast<std::uint64_t>(first), count,
                          scratch.random.data() + slot);
      } else {
        std::copy_n(given.begin() + first, count, scratch.random.begin() + slot);
      }
      return;
    }
    std::uint64_t cached = std::numeric_limits<std::uint64_t>::max();
    PhiloxBlock block{};
    for (int i = 0; i < count; ++i) {
      const auto place = static_cast<std::uint64_t>(g.first_element(row) + (column + i) * g.inner);
      const std::uint64_t element = job.options.first_element + place;
      if (given.empty() && element >> 2 != cached) {
        cached = element >> 2;
        block = random_block(job.options.seed, job.options.stream, job.options.step, element);
      }
      scratch.random[static_cast<std::size_t>(slot + i)] = given.empty() ? block.word[element & 3U] : given[place];
    }
  });
}

void store_run(const Job& job, const Run& run, const Scratch& scratch) {
  const Geometry& g = job.geometry;
  const Profile& profile = job.profile;
  const int width = profile.block.cols * run.blocks;
  const bool nibbles = element_spec(profile.element).is_nibble();
  const int per_block = scale_bytes(profile.family);
  for (int r = 0; r < run.rows; ++r) {
    const std::int64_t row = run.row + r - job.begin;
    const std::uint8_t* codes = scratch.codes.data() + r * width;
    const std::int64_t column = run.block * profile.block.cols;
    std::uint8_t* out = job.codes + row * g.code_bytes_per_row + (nibbles ? column / 2 : column);
    if (nibbles) {
      pack_nibbles(codes, width, out);
    } else {
      std::copy_n(codes, width, out);
    }
    std::uint8_t* scales = job.scales + row * g.scale_bytes_per_row + run.block * per_block;
    for (int b = 0; b < run.blocks; ++b) {
      const std::uint32_t word = scratch.row_scales[static_cast<std::size_t>(r * run.blocks + b)];
      for (int k = 0; k < per_block; ++k) *scales++ = static_cast<std::uint8_t>(word >> (8 * k));
    }
  }
}

/// Encodes one run; returns the position (row * blocks + block) of a rejected block and its status, or -1.
std::pair<std::int64_t, BlockStatus> encode_run(const Job& job, const Run& run, Scratch& scratch) {
  load_run(job, run, scratch);
  const bool stochastic = job.profile.rounding == Rounding::stochastic;
  if (stochastic) draw_random(job, run, scratch);
  const int blocks = job.profile.block.is_2d() ? 1 : run.rows * run.blocks;
  const auto rejection = job.encoder.encode(blocks, scratch.words.data(), stochastic ? scratch.random.data() : nullptr,
                                            scratch.row_scales.data(), scratch.codes.data());
  if (rejection) {
    const std::int64_t row = run.row + rejection->block / run.blocks;
    const std::int64_t block = run.block + rejection->block % run.blocks;
    return {row * job.geometry.blocks + block, rejection->status};
  }
  store_run(job, run, scratch);
  return {-1, BlockStatus::ok};
}

}  // namespace

float tensor_scale_of(const Profile& profile, const TensorView& tensor) {
  if (profile.family != Family::nvfp4 || !profile.tensor_scale) return 1.0F;
  const std::int64_t count = element_count_of(tensor.shape);
  std::uint32_t amax = 0;
#pragma omp parallel for schedule(static) reduction(max : amax)
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint32_t word = 0;
    load_words(tensor, i, 1, 1, &word);
    const std::uint32_t magnitude = prepared_word(profile, word) & float_magnitude_mask;
    if (magnitude < float_infinity_bits) amax = std::max(amax, magnitude);
  }
  return nvfp4_tensor_scale(amax);
}

Result<void> quantize_rows(const Profile& profile, const TensorView& tensor, const Geometry& geometry,
                           const QuantizeOptions& options, float tensor_scale, std::int64_t begin, std::int64_t end,
                           std::span<std::uint8_t> codes, std::span<std::uint8_t> scales) {
  if (options.three_quarters && profile.family != Family::mx) {
    return Error{ErrorKind::usage, "quantize: three-quarters needs the power-of-two scales of MX, which profile " +
                                       std::string(profile.name) + " has not; choose an MX profile"};
  }
  const RunEncoder encoder(profile, tensor_scale, options.three_quarters);
  const Job job{profile, tensor, geometry, options, encoder, begin, codes.data(), scales.data()};
  const Runs runs(profile, geometry, begin, end);
  std::int64_t first_rejected = std::numeric_limits<std::int64_t>::max();
  BlockStatus reason = BlockStatus::ok;
#pragma omp parallel if (runs.count() > 1)
  {
    Scratch scratch;
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < runs.count(); ++i) {
      const auto [position, status] = encode_run(job, runs.at(i), scratch);
      if (position >= 0) {
#pragma omp critical(fp4proof_rejection)
        if (position < first_rejected) {
          first_rejected = position;
          reason = status;
        }
      }
    }
  }
  if (reason == BlockStatus::ok) return {};
  const char* what = reason == BlockStatus::rejected_nan ? "NaN" : "an infinity";
  return Error{ErrorKind::data, std::string("row ") + std::to_string(first_rejected / geometry.blocks) + ", block " +
                                    std::to_string(first_rejected % geometry.blocks) + " holds " + what +
                                    ", which profile " + std::string(profile.name) +
                                    " refuses; clean the input or choose a profile with another policy"};
}

Result<Quantized> quantize(const Profile& profile, const TensorView& tensor, const QuantizeOptions& options) {
  auto geometry = cut_into_blocks(profile, tensor.shape, options.axis, options.tail);
  if (!geometry) return geometry.error();
  const auto count = static_cast<std::size_t>(element_count_of(tensor.shape));
  if (!options.random_words.empty() && options.random_words.size() != count) {
    return Error{ErrorKind::usage, "quantize: " + std::to_string(options.random_words.size()) +
                                       " random words for a tensor of " + std::to_string(count) +
                                       " elements; give one an element, or none"};
  }
  Quantized result;
  result.geometry = *std::move(geometry);
  result.codes.resize(static_cast<std::size_t>(result.geometry.code_bytes()));
  result.scales.resize(static_cast<std::size_t>(result.geometry.scale_bytes()));
  result.tensor_scale = tensor_scale_of(profile, tensor);
  const auto done = quantize_rows(profile, tensor, result.geometry, options, result.tensor_scale, 0,
                                  result.geometry.rows, result.codes, result.scales);
  if (!done) return done.error();
  return result;
}

}  // namespace fp4proof::portable
