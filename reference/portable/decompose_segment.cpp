#include "reference/portable/decompose_segment.h"

#include <algorithm>
#include <limits>

#include "reference/portable/random_words.h"

namespace fp4proof::portable {

Panel panel_at(const Profile& profile, const Geometry& geometry, std::int64_t row, std::int64_t end) {
  std::int64_t rows = geometry.inner == 1 ? 1 : blocks_per_run;
  if (profile.block.is_2d()) {
    rows = std::min<std::int64_t>(profile.block.rows, geometry.matrix_rows - row % geometry.matrix_rows);
  }
  return {row, static_cast<int>(std::min(rows, end - row))};
}

SegmentDecomposer::SegmentDecomposer(const DecomposeJob& job)
    : job_(job),
      encoder_(job.profile, job.tensor_scale),
      ideal_(job.profile),
      fast_(job.profile),
      stochastic_(job.profile.rounding == Rounding::stochastic),
      takes_fast_road_(RunDecomposer::covers(job.profile) && job.geometry.inner == 1 && job.values.empty() &&
                       job.output.blocks.empty() && job.output.elements.empty()) {}

std::int64_t SegmentDecomposer::segments() const {
  return (job_.geometry.columns + segment_columns - 1) / segment_columns;
}

SegmentDecomposer::Run SegmentDecomposer::run_at(const Panel& panel, std::int64_t column, std::int64_t end) const {
  const int cols = job_.profile.block.cols;
  const bool along_columns = !job_.profile.block.is_2d() && job_.geometry.inner == 1;
  const std::int64_t blocks =
      along_columns ? std::min<std::int64_t>((end - column + cols - 1) / cols, blocks_per_run) : 1;
  Run run{panel, column, static_cast<int>(blocks * cols), 0};
  run.count = static_cast<int>(std::min<std::int64_t>(run.width, end - column));
  return run;
}

int SegmentDecomposer::blocks_of(const Run& run) const {
  return job_.profile.block.is_2d() ? 1 : run.panel.rows * (run.width / job_.profile.block.cols);
}

void SegmentDecomposer::load(const Run& run, SegmentScratch& scratch) const {
  const Geometry& g = job_.geometry;
  const int stored = run.panel.rows * run.width;
  const bool whole =
      run.count == run.width && (!job_.profile.block.is_2d() || run.panel.rows == job_.profile.block.rows);
  if (!whole) std::fill_n(scratch.words.begin(), std::max(stored, job_.profile.block.size()), 0U);
  if (g.inner != 1) {
    load_strided(run, scratch);
    return;
  }
  for (int r = 0; r < run.panel.rows; ++r) {
    load_words(job_.tensor, g.first_element(run.panel.row + r) + run.column, 1, run.count,
               scratch.words.data() + r * run.width);
  }
}

/// Reads along memory: one column of the run at a time.
void SegmentDecomposer::load_strided(const Run& run, SegmentScratch& scratch) const {
  const Geometry& g = job_.geometry;
  std::array<std::uint32_t, max_block_rows> line;
  for (int r = 0; r < run.panel.rows;) {
    const std::int64_t row = run.panel.row + r;
    const auto together = static_cast<int>(std::min<std::int64_t>(run.panel.rows - r, g.inner - row % g.inner));
    for (int c = 0; c < run.count; ++c) {
      load_words(job_.tensor, g.first_element(row) + (run.column + c) * g.inner, 1, together, line.data());
      for (int i = 0; i < together; ++i) {
        scratch.words[static_cast<std::size_t>((r + i) * run.width + c)] = line[static_cast<std::size_t>(i)];
      }
    }
    r += together;
  }
}

void SegmentDecomposer::draw_random(const Run& run, SegmentScratch& scratch) const {
  const Geometry& g = job_.geometry;
  const QuantizeOptions& options = job_.options;
  for (int r = 0; r < run.panel.rows; ++r) {
    std::uint32_t* words = scratch.random.data() + r * run.width;
    if (g.inner == 1) {
      const std::int64_t first = g.first_element(run.panel.row + r) + run.column;
      if (options.random_words.empty()) {
        draw_random_words(options.seed, options.stream, options.step,
                          options.first_element + static_cast<std::uint64_t>(first), run.count, words);
      } else {
        std::copy_n(options.random_words.begin() + first, run.count, words);
      }
      continue;
    }
    std::uint64_t cached = std::numeric_limits<std::uint64_t>::max();
    PhiloxBlock block{};
    for (int c = 0; c < run.count; ++c) {
      const auto place = static_cast<std::uint64_t>(g.first_element(run.panel.row + r) + (run.column + c) * g.inner);
      std::uint32_t& word = words[c];
      if (!options.random_words.empty()) {
        word = options.random_words[place];
        continue;
      }
      const std::uint64_t element = options.first_element + place;
      if (element >> 2 != cached) {
        cached = element >> 2;
        block = random_block(options.seed, options.stream, options.step, element);
      }
      word = block.word[element & 3U];
    }
  }
}

bool SegmentDecomposer::quantize(const Run& run, SegmentScratch& scratch) const {
  if (!job_.values.empty()) return true;
  const int blocks = blocks_of(run);
  std::copy_n(scratch.words.begin(), blocks * job_.profile.block.size(), scratch.prepared.begin());
  return !encoder_.encode(blocks, scratch.prepared.data(), stochastic_ ? scratch.random.data() : nullptr,
                          scratch.row_scales.data(), scratch.codes.data());
}

bool SegmentDecomposer::add_up_fast(const Run& run, SegmentScratch& scratch) const {
  return takes_fast_road_ && run.count == run.width &&
         fast_.add(blocks_of(run), scratch.words.data(), scratch.codes.data(), scratch.row_scales.data(),
                   scratch.rows[0]);
}

void SegmentDecomposer::idealize(const Run& run, SegmentScratch& scratch) const {
  const int size = job_.profile.block.size();
  for (int b = 0; b < blocks_of(run); ++b) {
    ideal_.encode_block(scratch.words.data() + b * size, stochastic_ ? scratch.random.data() + b * size : nullptr,
                        scratch.ideal.data() + b * size);
  }
}

float SegmentDecomposer::quantized_value(const Run& run, const SegmentScratch& scratch, int r, int c) const {
  if (!job_.values.empty()) {
    const std::int64_t row = run.panel.row + r - job_.begin;
    return job_.values[static_cast<std::size_t>(row * job_.geometry.columns + run.column + c)];
  }
  const int cols = job_.profile.block.cols;
  const auto scale = static_cast<std::size_t>(r * (run.width / cols) + c / cols);
  return decode_block_element(job_.profile, scratch.row_scales[scale], job_.tensor_scale, c % cols,
                              scratch.codes[static_cast<std::size_t>(r * run.width + c)]);
}

void SegmentDecomposer::add_up_row(const Run& run, SegmentScratch& scratch, int r) const {
  const Geometry& g = job_.geometry;
  const DecomposeOutput& output = job_.output;
  const double factor = ideal_.factor();
  const int cols = job_.profile.block.cols;
  const std::int64_t row = run.panel.row + r - job_.begin;
  LaneSums block_sums;
  for (int c = 0; c < run.count; ++c) {
    const auto slot = static_cast<std::size_t>(r * run.width + c);
    const std::int64_t column = run.column + c;
    const ScaledElement element{factor * double{float_from_bits(scratch.words[slot])},
                                factor * double{quantized_value(run, scratch, r, c)}, scratch.ideal[slot]};
    const ErrorTerms terms = scratch.rows[static_cast<std::size_t>(r)].add(column % segment_columns, element);
    if (!output.elements.empty()) output.elements[static_cast<std::size_t>(row * g.columns + column)] = terms;
    if (output.blocks.empty()) continue;
    block_sums.add(c % cols, element);
    if (c % cols == cols - 1 || c == run.count - 1) {
      output.blocks[static_cast<std::size_t>(row * g.blocks + column / cols)] = block_sums.folded();
      block_sums = {};
    }
  }
}

void SegmentDecomposer::add_up(const Run& run, SegmentScratch& scratch) const {
  for (int r = 0; r < run.panel.rows; ++r) add_up_row(run, scratch, r);
}

bool SegmentDecomposer::decompose(const Panel& panel, std::int64_t segment, SegmentScratch& scratch,
                                  std::span<ErrorSplit> sums) const {
  const auto rows = static_cast<std::size_t>(panel.rows);
  std::fill_n(scratch.rows.begin(), rows, LaneSums{});
  const std::int64_t end = std::min((segment + 1) * segment_columns, job_.geometry.columns);
  for (std::int64_t column = segment * segment_columns; column < end;) {
    const Run run = run_at(panel, column, end);
    load(run, scratch);
    if (stochastic_) draw_random(run, scratch);
    if (!quantize(run, scratch)) return false;
    if (!add_up_fast(run, scratch)) {
      idealize(run, scratch);
      add_up(run, scratch);
    }
    column += run.width;
  }
  for (std::size_t r = 0; r < rows; ++r) sums[r] = scratch.rows[r].folded();
  return true;
}

}  // namespace fp4proof::portable
