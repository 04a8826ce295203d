#pragma once
// One segment of a few rows, from the tensor to its sums: the unit of work of decompose_rows.

#include <array>
#include <cstdint>
#include <span>

#include "reference/portable/decompose.h"
#include "reference/portable/decompose_ideal.h"
#include "reference/portable/decompose_run.h"
#include "reference/portable/decompose_sums.h"
#include "reference/portable/run_encoder.h"

namespace fp4proof::portable {

/// The arguments of decompose_rows.
struct DecomposeJob {
  const Profile& profile;
  const TensorView& tensor;
  const Geometry& geometry;
  const QuantizeOptions& options;
  float tensor_scale;
  std::int64_t begin;
  std::span<const float> values;
  const DecomposeOutput& output;
};

/// Consecutive rows that are worked on together: the rows of a tile, neighbours in memory, or a single row.
struct Panel {
  std::int64_t row = 0;
  int rows = 1;
};

/// The panel that starts at `row`, where rows up to `end` are wanted.
Panel panel_at(const Profile& profile, const Geometry& geometry, std::int64_t row, std::int64_t end);

inline constexpr int max_panel_words = std::max(blocks_per_run * 64, max_block_size);

/// A worker's memory.
struct SegmentScratch {
  std::array<std::uint32_t, max_panel_words> words;
  std::array<std::uint32_t, max_panel_words> prepared;
  std::array<std::uint32_t, max_panel_words> random;
  std::array<std::uint8_t, max_panel_words> codes;
  std::array<std::uint32_t, std::max(blocks_per_run, max_block_rows)> row_scales;
  std::array<double, max_panel_words> ideal;
  std::array<LaneSums, max_block_rows> rows;
};

class SegmentDecomposer {
 public:
  explicit SegmentDecomposer(const DecomposeJob& job);

  std::int64_t segments() const;

  /// Decomposes segment `segment` of a panel; sums[r] receives those of its row r. Blocks and elements go to the output
  /// of the job. Returns false, with unspecified sums, where the profile refuses a block.
  bool decompose(const Panel& panel, std::int64_t segment, SegmentScratch& scratch, std::span<ErrorSplit> sums) const;

 private:
  /// Consecutive blocks of one row, the same block of consecutive rows, or one tile. Element (r, c) of a run stands at
  /// r * width + c of the scratch arrays.
  struct Run {
    Panel panel;
    std::int64_t column = 0;  ///< first column
    int width = 0;            ///< columns, padding included
    int count = 0;            ///< columns that exist
  };
  Run run_at(const Panel& panel, std::int64_t column, std::int64_t end) const;
  int blocks_of(const Run& run) const;
  void load(const Run& run, SegmentScratch& scratch) const;
  void load_strided(const Run& run, SegmentScratch& scratch) const;
  void draw_random(const Run& run, SegmentScratch& scratch) const;
  bool quantize(const Run& run, SegmentScratch& scratch) const;
  bool add_up_fast(const Run& run, SegmentScratch& scratch) const;
  void idealize(const Run& run, SegmentScratch& scratch) const;
  float quantized_value(const Run& run, const SegmentScratch& scratch, int r, int c) const;
  void add_up(const Run& run, SegmentScratch& scratch) const;
  void add_up_row(const Run& run, SegmentScratch& scratch, int r) const;

  const DecomposeJob& job_;
  RunEncoder encoder_;
  IdealQuantizer ideal_;
  RunDecomposer fast_;
  bool stochastic_;
  bool takes_fast_road_;
};

}  // namespace fp4proof::portable
