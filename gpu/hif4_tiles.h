#pragma once
// Two parts of quantize_hif4_packed(): groups that do not follow the columns of the matrix.

#include <cuda_runtime_api.h>

#include "gpu/quantize.h"

namespace fp4proof::gpu {

/// 64 x 64 tiles, lines along the columns, of a job that takes_hif4_packed().
Status quantize_hif4_tiles(const QuantizeJob& job, const Coded& coded, cudaStream_t stream);

/// Groups along the rows (axis 0) of such a job.
Status quantize_hif4_columns(const QuantizeJob& job, const Coded& coded, cudaStream_t stream);

}  // namespace fp4proof::gpu
