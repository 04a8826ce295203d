#pragma once
// The fast roads of quantize() and quantize_both_axes(): bfloat16 to MXFP4, rounded to nearest, with packed arithmetic.
// The bits are those of the general road.

#include <cuda_runtime_api.h>

#include "gpu/quantize.h"

namespace fp4proof::gpu {

/// Whether quantize_mx_packed() takes the job: the default fields of docs/rules-mx.md with any scale rule in exact
/// arithmetic, 1D or 2D blocks, lengths that are multiples of 32 (and of 128 under tiled_128x4 along the columns), even
/// columns, pointers aligned to 16 bytes (scales: 4). Shapes need no further alignment; batches may be any.
bool takes_mx_packed(const QuantizeJob& job, const Coded& coded);

/// quantize() for such a job.
Status quantize_mx_packed(const QuantizeJob& job, const Coded& coded, cudaStream_t stream);

/// Whether quantize_both_axes_mx_packed() takes the job: as above, 1D, rows and columns multiples of 32.
bool takes_both_axes_mx_packed(const QuantizeJob& job, const Coded& along_columns, const Coded& along_rows);

/// quantize_both_axes() for such a job: the input is read once.
Status quantize_both_axes_mx_packed(const QuantizeJob& job, const Coded& along_columns, const Coded& along_rows,
                                    cudaStream_t stream);

}  // namespace fp4proof::gpu
