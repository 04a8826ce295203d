#include "conformance/cli/decompose_stream.h"

#include <fmt/format.h>

#include <cstddef>
#include <vector>

#include "conformance/vectors/os_error.h"

namespace fp4proof::cli {

Result<void> decompose_in_chunks(const DecomposeTask& task, DecomposeWish wish, Progress& progress,
                                 const DecomposedSink& sink) {
  const portable::Geometry& geometry = task.plan.geometry;
  if (geometry.columns == 0) return {};
  std::vector<portable::ErrorSplit> rows;
  std::vector<portable::ErrorSplit> blocks;
  std::vector<portable::ErrorTerms> elements;
  for (std::int64_t begin = 0; begin < geometry.rows;) {
    const RowRange range = next_chunk(task.profile, geometry, begin);
    rows.assign(static_cast<std::size_t>(range.count()), {});
    if (wish != DecomposeWish::rows) blocks.assign(static_cast<std::size_t>(range.count() * geometry.blocks), {});
    if (wish == DecomposeWish::rows_blocks_elements) {
      elements.assign(static_cast<std::size_t>(range.count() * geometry.columns), {});
    }
    std::span<const float> values = task.values;
    if (!values.empty()) {
      values = values.subspan(static_cast<std::size_t>(range.begin * geometry.columns),
                              static_cast<std::size_t>(range.count() * geometry.columns));
    }
    const Result<void> done =
        portable::decompose_rows(task.profile, task.source.view(), geometry, task.options, task.plan.tensor_scale,
                                 range.begin, range.end, values, {rows, blocks, elements});
    if (!done) {
      return Error{done.error().kind, fmt::format("tensor {}: {}", quote(task.source.name), done.error().message)};
    }
    sink({range, rows, blocks, elements});
    progress.advance(static_cast<std::uint64_t>(range.count() * geometry.columns));
    begin = range.end;
  }
  return {};
}

Result<portable::ErrorSplit> decompose_tensor(const DecomposeTask& task, Progress& progress) {
  portable::ErrorSplit sum;
  const Result<void> done = decompose_in_chunks(task, DecomposeWish::rows, progress, [&](const DecomposedChunk& chunk) {
    for (const portable::ErrorSplit& row : chunk.row_sums) sum.add(row);
  });
  if (!done) return done.error();
  return sum;
}

}  // namespace fp4proof::cli
