#pragma once
// The random Hadamard transform of lines. Rules C10 to C13 of docs/rules-corrections.md.

#include <cuda_runtime_api.h>

#include <cstdint>

#include "formats/spec_corrections.h"
#include "gpu/matrix.h"
#include "gpu/status.h"

namespace fp4proof::gpu {

/// C10 on every line, in place. `shape` is that of the lines, whose length is a multiple of the size; `lines` is
/// aligned to 16 bytes. `product` is the product number of HadamardSigns::fresh.
Status transform_lines(const HadamardSpec& spec, std::uint32_t product, const MatrixShape& shape, float* lines,
                       cudaStream_t stream);

/// C12, likewise.
Status transform_lines_back(const HadamardSpec& spec, std::uint32_t product, const MatrixShape& shape, float* lines,
                            cudaStream_t stream);

}  // namespace fp4proof::gpu
