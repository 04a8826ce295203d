#pragma once
// Matrices as binary32 lines: [batch, lines, length], block axis last, without padding. What the steps of correct() and
// their workspace hold.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "gpu/matrix.h"
#include "gpu/status.h"

namespace fp4proof::gpu {

/// The shape of the lines of a shape: one whose rows are its lines.
constexpr MatrixShape lines_shape(const MatrixShape& shape) { return {shape.batch, shape.lines(), shape.length(), 1}; }

/// Widens a matrix to lines, exactly.
Status load_lines(DType dtype, const void* input, const MatrixShape& shape, float* lines, cudaStream_t stream);

/// The random words of a matrix in the order of its lines: words[i] belongs to the element that lines[i] holds.
Status load_random_words(const RandomSource& random, const MatrixShape& shape, std::uint32_t* words,
                         cudaStream_t stream);

}  // namespace fp4proof::gpu
