#pragma once
// Quantizing a tensor chunk by chunk: memory stays at one chunk, whatever the size of the tensor.

#include <functional>
#include <span>

#include "conformance/cli/progress.h"
#include "conformance/cli/row_chunks.h"
#include "conformance/cli/tensor_source.h"
#include "formats/result.h"
#include "formats/spec.h"
#include "reference/portable/quantize.h"

namespace fp4proof::cli {

/// One chunk of a quantized tensor in canonical packing. The spans are valid during the call that hands it over, and
/// the receiver may change them.
struct QuantizedChunk {
  RowRange rows;
  std::span<std::uint8_t> codes;
  std::span<std::uint8_t> scales;
};

using ChunkSink = std::function<Result<void>(const QuantizedChunk&)>;

/// How one tensor is to be quantized.
struct TensorPlan {
  portable::Geometry geometry;  ///< rows as they are worked on
  float tensor_scale = 1.0F;
};

/// Hands every chunk of `source` to `sink`, in order, and counts its elements in `progress`. An error names the tensor.
Result<void> quantize_in_chunks(const Profile& profile, const TensorSource& source, const TensorPlan& plan,
                                const portable::QuantizeOptions& options, Progress& progress, const ChunkSink& sink);

}  // namespace fp4proof::cli
