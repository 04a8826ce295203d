#include "reference/portable/decompose.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "reference/portable/decompose_segment.h"

namespace fp4proof::portable {

namespace {

double ratio(double numerator, double denominator) { return denominator == 0.0 ? 0.0 : numerator / denominator; }

/// Segment sums that are held at once, but for those of a single panel.
constexpr std::int64_t max_held_sums = 8192;

/// Some panels, their segment sums, and the row after them.
struct Batch {
  std::vector<Panel> panels;
  std::int64_t end = 0;
};

Batch next_batch(const DecomposeJob& job, std::int64_t segments, std::int64_t row, std::int64_t end) {
  Batch batch;
  batch.end = row;
  while (batch.end < end) {
    const Panel panel = panel_at(job.profile, job.geometry, batch.end, end);
    if (!batch.panels.empty() && (batch.end - row + panel.rows) * segments > max_held_sums) break;
    batch.panels.push_back(panel);
    batch.end += panel.rows;
  }
  return batch;
}

/// Decomposes a batch that starts at `first`; returns false where the profile refuses a block.
bool decompose_batch(const DecomposeJob& job, const SegmentDecomposer& decomposer, const Batch& batch,
                     std::int64_t first) {
  const std::int64_t segments = decomposer.segments();
  const std::int64_t units = static_cast<std::int64_t>(batch.panels.size()) * segments;
  // Segment by segment, and in a segment row by row: the rows of a panel stand together.
  const std::int64_t rows = batch.end - first;
  std::vector<ErrorSplit> sums(static_cast<std::size_t>(rows * segments));
  std::atomic<bool> refused = false;
#pragma omp parallel if (units > 1)
  {
    const auto scratch = std::make_unique<SegmentScratch>();
#pragma omp for schedule(static)
    for (std::int64_t unit = 0; unit < units; ++unit) {
      const Panel& panel = batch.panels[static_cast<std::size_t>(unit / segments)];
      const std::int64_t segment = unit % segments;
      const auto at = static_cast<std::size_t>(segment * rows + panel.row - first);
      const auto target = std::span(sums).subspan(at, static_cast<std::size_t>(panel.rows));
      if (!decomposer.decompose(panel, segment, *scratch, target)) refused = true;
    }
  }
  if (refused) return false;
  for (std::int64_t row = 0; row < rows; ++row) {
    ErrorSplit& target = job.output.rows[static_cast<std::size_t>(first - job.begin + row)];
    target = {};
    for (std::int64_t segment = 0; segment < segments; ++segment) {
      target.add(sums[static_cast<std::size_t>(segment * rows + row)]);
    }
  }
  return true;
}

/// The error of quantize_rows() for rows that hold a block which the profile refuses.
Result<void> refusal(const DecomposeJob& job, std::int64_t begin, std::int64_t end) {
  const auto rows = static_cast<std::size_t>(end - begin);
  std::vector<std::uint8_t> codes(rows * static_cast<std::size_t>(job.geometry.code_bytes_per_row));
  std::vector<std::uint8_t> scales(rows * static_cast<std::size_t>(job.geometry.scale_bytes_per_row));
  return quantize_rows(job.profile, job.tensor, job.geometry, job.options, job.tensor_scale, begin, end, codes, scales);
}

}  // namespace

void ErrorSplit::add(const ErrorSplit& other) {
  elements += other.elements;
  excluded += other.excluded;
  in_deadzone += other.in_deadzone;
  zeroed += other.zeroed;
  inexact += other.inexact;
  identity_failures += other.identity_failures;
  value += other.value;
  quantized_value += other.quantized_value;
  error += other.error;
  scale += other.scale;
  deadzone += other.deadzone;
  grid += other.grid;
  scale_grid += other.scale_grid;
  scale_deadzone += other.scale_deadzone;
}

double ErrorSplit::relative_error() const { return ratio(error, value); }
double ErrorSplit::scale_share() const { return ratio(scale, error); }
double ErrorSplit::deadzone_share() const { return ratio(deadzone, error); }
double ErrorSplit::grid_share() const { return ratio(grid, error); }
double ErrorSplit::floor_share() const { return ratio(deadzone + grid, error); }
double ErrorSplit::scale_grid_cosine() const { return ratio(scale_grid, std::sqrt(scale) * std::sqrt(grid)); }
double ErrorSplit::gain() const { return ratio(quantized_value, value); }
double ErrorSplit::deadzone_fraction() const {
  return ratio(static_cast<double>(in_deadzone), static_cast<double>(compared()));
}
double ErrorSplit::zeroed_fraction() const {
  return ratio(static_cast<double>(zeroed), static_cast<double>(compared()));
}

Result<void> decompose_rows(const Profile& profile, const TensorView& tensor, const Geometry& geometry,
                            const QuantizeOptions& options, float tensor_scale, std::int64_t begin, std::int64_t end,
                            std::span<const float> values, const DecomposeOutput& output) {
  if (segment_columns % profile.block.cols != 0) {
    return Error{ErrorKind::unsupported, "decompose: blocks of " + std::to_string(profile.block.cols) +
                                             " columns; the block length must divide " +
                                             std::to_string(segment_columns)};
  }
  if (options.three_quarters && values.empty()) {
    return Error{ErrorKind::usage,
                 "decompose: three-quarters is no quantization of a profile; give the decoded values of the corrected "
                 "tensor"};
  }
  const DecomposeJob job{profile, tensor, geometry, options, tensor_scale, begin, values, output};
  const SegmentDecomposer decomposer(job);
  for (std::int64_t row = begin; row < end;) {
    const Batch batch = next_batch(job, decomposer.segments(), row, end);
    if (!decompose_batch(job, decomposer, batch, row)) return refusal(job, row, batch.end);
    row = batch.end;
  }
  return {};
}

Result<ErrorSplit> decompose(const Profile& profile, const TensorView& tensor, const QuantizeOptions& options,
                             std::span<const float> values) {
  const auto geometry = cut_into_blocks(profile, tensor.shape, options.axis, options.tail);
  if (!geometry) return geometry.error();
  const std::int64_t rows = geometry->rows;
  const std::int64_t columns = geometry->columns;
  for (const auto& [what, given] :
       {std::pair{"values", values.size()}, {"random words", options.random_words.size()}}) {
    if (given == 0 || static_cast<std::int64_t>(given) == rows * columns) continue;
    return Error{ErrorKind::usage, "decompose: " + std::to_string(given) + " " + what + " for a tensor of " +
                                       std::to_string(rows * columns) + " elements; give one an element, or none"};
  }
  const float tensor_scale = tensor_scale_of(profile, tensor);
  ErrorSplit total;
  std::vector<ErrorSplit> sums;
  for (std::int64_t row = 0; row < rows;) {
    std::int64_t end = row;
    while (end < rows && end - row < max_held_sums) end += panel_at(profile, *geometry, end, rows).rows;
    sums.assign(static_cast<std::size_t>(end - row), ErrorSplit{});
    const auto part = values.empty() ? values
                                     : values.subspan(static_cast<std::size_t>(row * columns),
                                                      static_cast<std::size_t>((end - row) * columns));
    const auto done = decompose_rows(profile, tensor, *geometry, options, tensor_scale, row, end, part, {.rows = sums});
    if (!done) return done.error();
    for (const ErrorSplit& sum : sums) total.add(sum);
    row = end;
  }
  return total;
}

}  // namespace fp4proof::portable
