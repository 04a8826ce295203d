#pragma once
// The fast roads of quantize() and quantize_both_axes(): bfloat16 to MXFP4, rounded to nearest, with packed arithmetic.
// The bits are those of the general road.

#include <cuda_runtime_api.h>

#include "gpu/quantize.h"

namespace fp4proof::gpu {

/// Whether quantize_mx_packed() takes the job: the default fields of docs/rules-mx.md with any scale rule in exact
/// arithmetic, 1D or 2D blocks, whole blocks (1D along the columns with tiled_128x4: columns a multiple of 128; along
/// the rows: columns a multiple of 8), rows and columns below 2^24 but for 1D along the columns, pointers aligned to 16
/// bytes (scales: 4). Everything else goes the general road.
bool takes_mx_packed(const QuantizeJob& job, const Coded& coded);

/// quantize() for such a job.
Status quantize_mx_packed(const QuantizeJob& job, const Coded& coded, cudaStream_t stream);

/// Whether quantize_both_axes_mx_packed() takes the job: as above, 1D, rows and columns multiples of 32.
bool takes_both_axes_mx_packed(const QuantizeJob& job, const Coded& along_columns, const Coded& along_rows);

/// quantize_both_axes() for such a job: the input is read once.
Status quantize_both_axes_mx_packed(const QuantizeJob& job, const Coded& along_columns, const Coded& along_rows,
                                    cudaStream_t stream);

}  // namespace fp4proof::gpu
