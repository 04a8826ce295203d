#include "conformance/cli/decompose_detail.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "formats/float_bits.h"

namespace fp4proof::cli {

namespace {

using portable::Geometry;

constexpr std::int64_t most_cell_rows = 64;
constexpr std::int64_t most_cell_columns = 96;
/// Rows are binned in this many parts, whatever the number of threads, so that sums keep their bits.
constexpr std::int64_t parts = 16;

/// The rows of one chunk together with the numbers they came from.
class ChunkBins {
 public:
  ChunkBins(const DecomposeTask& task, const Geometry& geometry, const DecomposedChunk& chunk)
      : profile_(task.profile), tensor_(task.source.view()), geometry_(geometry), chunk_(chunk) {
    first_strip_ = strip(chunk.rows.begin);
    maxima_.assign(static_cast<std::size_t>((strip(chunk.rows.end - 1) - first_strip_ + 1) * geometry.blocks), 0.0F);
    for (std::int64_t row = 0; row < chunk.rows.count(); ++row) note_maxima(row);
  }

  void add_to(TensorDetail& detail) const {
    std::array<TensorDetail, parts> found;
#pragma omp parallel for schedule(static)
    for (std::int64_t part = 0; part < parts; ++part) {
      TensorDetail& mine = found[static_cast<std::size_t>(part)];
      mine.bins.resize(detail.bins.size());
      const std::int64_t end = chunk_.rows.count() * (part + 1) / parts;
      for (std::int64_t row = chunk_.rows.count() * part / parts; row < end; ++row) bin_row(mine, row);
    }
    for (const TensorDetail& part : found) {
      detail.deadzone_end = std::max(detail.deadzone_end, part.deadzone_end);
      for (std::size_t i = 0; i < detail.bins.size(); ++i) detail.bins[i].add(part.bins[i]);
    }
  }

 private:
  /// The strip of blocks that a row belongs to: itself, or the row of tiles of its matrix.
  std::int64_t strip(std::int64_t row) const {
    const std::int64_t tile = profile_.block.rows;
    const std::int64_t strips = (geometry_.matrix_rows + tile - 1) / tile;
    return row / geometry_.matrix_rows * strips + row % geometry_.matrix_rows / tile;
  }

  /// Where the largest magnitude of a block stands in maxima_.
  std::size_t maximum_at(std::int64_t row, std::int64_t block) const {
    const std::int64_t local = strip(chunk_.rows.begin + row) - first_strip_;
    return static_cast<std::size_t>(local * geometry_.blocks + block);
  }

  template <class Visit>
  void visit_blocks(std::int64_t row, Visit visit) const {
    std::array<std::uint32_t, 64> words;
    const std::int64_t first = geometry_.first_element(chunk_.rows.begin + row);
    const std::int64_t width = profile_.block.cols;
    for (std::int64_t block = 0; block < geometry_.blocks; ++block) {
      const std::int64_t column = block * width;
      const auto count = static_cast<int>(std::min(width, geometry_.columns - column));
      portable::load_words(tensor_, first + column * geometry_.inner, geometry_.inner, count, words.data());
      visit(block, column, std::span<const std::uint32_t>(words.data(), static_cast<std::size_t>(count)));
    }
  }

  void note_maxima(std::int64_t row) {
    visit_blocks(row, [&](std::int64_t block, std::int64_t, std::span<const std::uint32_t> words) {
      float& largest = maxima_[maximum_at(row, block)];
      for (const std::uint32_t word : words) {
        if (is_finite_bits(word)) largest = std::max(largest, std::abs(float_from_bits(word)));
      }
    });
  }

  void bin_row(TensorDetail& detail, std::int64_t row) const {
    visit_blocks(row, [&](std::int64_t block, std::int64_t column, std::span<const std::uint32_t> words) {
      if (chunk_.blocks[static_cast<std::size_t>(row * geometry_.blocks + block)].compared() == 0) return;
      const double largest = maxima_[maximum_at(row, block)];
      const portable::ErrorTerms* terms = chunk_.elements.data() + row * geometry_.columns + column;
      for (const std::uint32_t word : words) bin_element(detail, word, largest, *terms++);
    });
  }

  static void bin_element(TensorDetail& detail, std::uint32_t word, double largest, const portable::ErrorTerms& terms) {
    if (!is_finite_bits(word) || float_from_bits(word) == 0.0F) return;
    const double magnitude = std::abs(double{float_from_bits(word)});
    const auto count = static_cast<double>(detail.bins.size());
    const double place = std::min(magnitude * count / largest, count - 1);
    MagnitudeBin& bin = detail.bins[static_cast<std::size_t>(place)];
    ++bin.elements;
    if (terms.deadzone != 0) {
      ++bin.in_deadzone;
      detail.deadzone_end = std::max(detail.deadzone_end, magnitude / largest);
    }
    bin.error += terms.error * terms.error;
    bin.scale += terms.scale * terms.scale;
    bin.deadzone += terms.deadzone * terms.deadzone;
    bin.grid += terms.grid * terms.grid;
  }

  const Profile& profile_;
  portable::TensorView tensor_;
  const Geometry& geometry_;
  const DecomposedChunk& chunk_;
  std::int64_t first_strip_;
  std::vector<float> maxima_;
};

/// Adds the blocks of a chunk to the cells. `blocks_per_row` is that of the tensor, whose rows the chunk may have cut.
void add_cells(TensorDetail& detail, const Geometry& whole, std::int64_t first_block,
               std::span<const portable::ErrorSplit> blocks) {
  const auto cell_rows = static_cast<std::int64_t>(detail.cell_rows);
  const auto cell_columns = static_cast<std::int64_t>(detail.cell_columns);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::int64_t index = first_block + static_cast<std::int64_t>(i);
    const std::int64_t row = index / whole.blocks * cell_rows / whole.rows;
    const std::int64_t column = index % whole.blocks * cell_columns / whole.blocks;
    const auto cell = static_cast<std::size_t>(row * cell_columns + column);
    detail.cell_errors[cell] += blocks[i].error;
    detail.cell_values[cell] += blocks[i].value;
  }
}

}  // namespace

void MagnitudeBin::add(const MagnitudeBin& other) {
  elements += other.elements;
  in_deadzone += other.in_deadzone;
  error += other.error;
  scale += other.scale;
  deadzone += other.deadzone;
  grid += other.grid;
}

std::size_t magnitude_bins(const Profile& profile) {
  if (profile.family == Family::hif4) return 56;
  return profile.element == Element::e2m1 ? 48 : 64;
}

Result<TensorDetail> look_closely(const DecomposeTask& task, Progress& progress) {
  const Geometry& whole = task.plan.geometry;
  TensorDetail detail;
  detail.bins.resize(magnitude_bins(task.profile));
  detail.cell_rows = static_cast<std::size_t>(std::min(whole.rows, most_cell_rows));
  detail.cell_columns = static_cast<std::size_t>(std::min(whole.blocks, most_cell_columns));
  detail.cell_errors.assign(detail.cell_rows * detail.cell_columns, 0.0);
  detail.cell_values = detail.cell_errors;
  DecomposeTask cut = task;
  cut.plan.geometry = with_short_rows(task.profile, whole);
  const Result<void> done =
      decompose_in_chunks(cut, DecomposeWish::rows_blocks_elements, progress, [&](const DecomposedChunk& chunk) {
        ChunkBins(cut, cut.plan.geometry, chunk).add_to(detail);
        add_cells(detail, whole, chunk.rows.begin * cut.plan.geometry.blocks, chunk.blocks);
      });
  if (!done) return done.error();
  return detail;
}

}  // namespace fp4proof::cli
