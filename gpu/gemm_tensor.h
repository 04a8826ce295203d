#pragma once
// Products of MXFP4 or HiF4 on the tensor cores, with the bits of docs/rules-gemm.md. gemm.h is what callers use.
//
// One pass over each side writes its image (gemm_image.h). For MXFP4 one matrix instruction is one block: the image
// holds elements times scales, all multiples of a unit of which the instruction keeps enough bits, so the block product
// is exact. For HiF4 two instructions on integers are one group, and a fused multiply-add brings in the scales. Either
// way the addition to the accumulator is one rounding, as GM10 has it.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "gpu/gemm_general.h"
#include "gpu/status.h"

namespace fp4proof::gpu {

/// Whether launch_tensor_product() takes the product: MXFP4 or HiF4 on both sides, no macro blocks, K > 0. It also
/// needs a device of compute capability 9.0.
bool takes_tensor_road(const PartProduct& product);

/// Bytes of device memory that launch_tensor_product() needs while it runs; 0 where it does not take the product.
std::size_t tensor_workspace(const PartProduct& product);

/// Sides whose image the last product, of the same shape, left in the workspace.
struct ReadyImages {
  bool a = false;
  bool b = false;
};

/// Computes C; tiles of MXFP4 that need it take launch_general_product().
Status launch_tensor_product(const PartProduct& product, ReadyImages ready, void* workspace,
                             std::size_t workspace_bytes, cudaStream_t stream);

}  // namespace fp4proof::gpu
