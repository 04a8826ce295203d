#pragma once
// Macro-block scaling of lines. Rules C14 to C18 of docs/rules-corrections.md.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "formats/spec.h"
#include "formats/spec_corrections.h"
#include "gpu/matrix.h"
#include "gpu/status.h"

namespace fp4proof::gpu {

/// Finds the factor bytes of lines of `shape` and writes them, [batch, lines, macro blocks], and the scaled lines x' of
/// C17. Under a 2D profile a macro block is a square of one matrix, and each of its lines repeats the byte.
Status scale_macro_blocks(const MacroSpec& macro, const Profile& profile, const MatrixShape& shape, const float* lines,
                          std::uint8_t* bytes, float* scaled, cudaStream_t stream);

}  // namespace fp4proof::gpu
