#include "conformance/cli/quantize_stream.h"

#include <fmt/format.h>

#include <vector>

#include "conformance/vectors/os_error.h"

namespace fp4proof::cli {

namespace {

Error named(const TensorSource& source, const portable::Geometry& geometry, const Error& error) {
  const bool whole_rows = geometry.rows == 0 || geometry.shape.size() != 2 || source.shape.back() == geometry.columns;
  const std::string rows = whole_rows ? "" : fmt::format(" (in rows of {} elements)", geometry.columns);
  return {error.kind, fmt::format("tensor {}{}: {}", quote(source.name), rows, error.message)};
}

}  // namespace

Result<void> quantize_in_chunks(const Profile& profile, const TensorSource& source, const TensorPlan& plan,
                                const portable::QuantizeOptions& options, Progress& progress, const ChunkSink& sink) {
  const portable::Geometry& geometry = plan.geometry;
  if (geometry.columns == 0) return {};
  std::vector<std::uint8_t> codes;
  std::vector<std::uint8_t> scales;
  for (std::int64_t begin = 0; begin < geometry.rows;) {
    const RowRange rows = next_chunk(profile, geometry, begin);
    codes.resize(static_cast<std::size_t>(rows.count() * geometry.code_bytes_per_row));
    scales.resize(static_cast<std::size_t>(rows.count() * geometry.scale_bytes_per_row));
    const Result<void> done = portable::quantize_rows(profile, source.view(), geometry, options, plan.tensor_scale,
                                                      rows.begin, rows.end, codes, scales);
    if (!done) return named(source, geometry, done.error());
    if (Result<void> taken = sink({rows, codes, scales}); !taken) return taken;
    progress.advance(static_cast<std::uint64_t>(rows.count() * geometry.columns));
    begin = rows.end;
  }
  return {};
}

}  // namespace fp4proof::cli
