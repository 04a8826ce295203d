#pragma once
// Quantization on the device: any profile that does not refuse inputs. Packing is canonical (see CodedShape) whatever
// nibble order, micro-exponent order and scale layout the profile names.
//
// Results depend on the arguments alone: not on the launch shape, the device or the road taken. Codes and scales are
// bit for bit those of the CPU reference.

#include <cuda_runtime_api.h>

#include <cstddef>

#include "formats/spec.h"
#include "gpu/matrix.h"
#include "gpu/status.h"

namespace fp4proof::gpu {

struct QuantizeJob {
  Profile profile;
  DType dtype = DType::bf16;
  MatrixShape shape;
  const void* input = nullptr;  ///< device, aligned to its element
  RandomSource random;          ///< for profiles that round stochastically
  ScaleLayout scale_layout = ScaleLayout::row_major;
  /// MX: the scale is that of x, the elements are RN(0.75 x) coded under it (C28 of docs/rules-corrections.md).
  bool three_quarters = false;
};

/// Bytes of device memory that quantize() needs while it runs, aligned to 4: 0 but for profiles with a tensor scale.
std::size_t quantize_workspace(const QuantizeJob& job);

/// Quantizes job.input into `coded`. For a profile with a tensor scale coded.tensor_scales is written: amax / 2688 of
/// each matrix of the batch.
/// Blocks: those of the named profiles, and for MX also tiles of 8, 16, 32 or 64 rows and columns.
/// Status::invalid: other blocks, pointers that are null or not aligned to their elements, three_quarters without MX,
/// more than 2^48 elements.
/// Status::unsupported: profiles whose NaN or infinity policy is `error`, elements that no format of the family has,
/// and layouts that do not fit the scale size. No allocation and no synchronisation: it may be captured in a CUDA
/// graph.
Status quantize(const QuantizeJob& job, const Coded& coded, void* workspace, std::size_t workspace_bytes,
                cudaStream_t stream);

/// Quantizes along both axes, as training needs it: `along_columns` is what quantize() gives for axis 1, `along_rows`
/// for axis 0. job.shape.axis is ignored. One pass over the input where takes_both_axes_mx_packed() of gpu/mx_packed.h
/// holds, else one for each axis.
Status quantize_both_axes(const QuantizeJob& job, const Coded& along_columns, const Coded& along_rows, void* workspace,
                          std::size_t workspace_bytes, cudaStream_t stream);

}  // namespace fp4proof::gpu
