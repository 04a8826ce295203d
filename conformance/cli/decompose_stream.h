#pragma once
// Decomposing the error of a tensor chunk by chunk: memory stays at one chunk, whatever the size of the tensor.

#include <functional>
#include <span>

#include "conformance/cli/progress.h"
#include "conformance/cli/quantize_stream.h"
#include "conformance/cli/row_chunks.h"
#include "conformance/cli/tensor_source.h"
#include "formats/result.h"
#include "formats/spec.h"
#include "reference/portable/decompose.h"

namespace fp4proof::cli {

/// A tensor and how its error is to be decomposed. What it refers to must outlive it.
struct DecomposeTask {
  const Profile& profile;
  const TensorSource& source;
  TensorPlan plan;
  portable::QuantizeOptions options;
  std::span<const float> values;  ///< Q(x), [rows, columns], block axis last; empty: the profile's own
};

/// One chunk. The spans are valid during the call that hands it over; those that were not wished for are empty.
struct DecomposedChunk {
  RowRange rows;
  std::span<const portable::ErrorSplit> row_sums;
  std::span<const portable::ErrorSplit> blocks;    ///< [rows, blocks of the geometry]
  std::span<const portable::ErrorTerms> elements;  ///< [rows, columns]
};

enum class DecomposeWish : std::uint8_t {
  rows,
  rows_blocks,
  rows_blocks_elements,  ///< 32 bytes an element of a chunk
};

using DecomposedSink = std::function<void(const DecomposedChunk&)>;

/// Hands every chunk of the tensor to `sink`, in order, and counts its elements in `progress`. An error names the
/// tensor.
Result<void> decompose_in_chunks(const DecomposeTask& task, DecomposeWish wish, Progress& progress,
                                 const DecomposedSink& sink);

/// The sums over the whole tensor: those of portable::decompose(), bit for bit.
Result<portable::ErrorSplit> decompose_tensor(const DecomposeTask& task, Progress& progress);

/// part / whole; 0 where there is no whole.
inline double ratio(double part, double whole) { return whole == 0 ? 0.0 : part / whole; }

}  // namespace fp4proof::cli
