#pragma once
// Products of MXFP4 or HiF4 on the tensor cores, with the bits of docs/rules-gemm.md. gemm.h is what callers use.
//
// One pass over each side writes its image (gemm_image.h); the kernel reads images alone.
//
// MXFP4: one matrix instruction is one block product. The image holds element times scale as E5M2, divided by a power
// of two of the line. All products of a block are multiples of a unit u, the largest is 144 u, and the sum is at most
// 4608 u, so 13 fraction bits below the largest product, which the instruction keeps (GM15), hold it exactly;
// tests/gpu/block_dots_gpu_test.cpp asks the device. Powers of two of lines change no rounding as long as no sum leaves
// the range of normal numbers inexactly, which is what the bytes of slow tiles are about; they return at the end.
//
// HiF4: two instructions on integers are one group, |16 d| <= 50176. With the product of the scales, six bits, d s_a
// s_b is exact and a fused multiply-add has one rounding. No scale leaves the range.
//
// Either way one addition a block and output is left, in the order of GM10.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "gpu/gemm_general.h"
#include "gpu/status.h"

namespace fp4proof::gpu {

/// Whether launch_tensor_product() takes the product: MXFP4 or HiF4 on both sides, no macro blocks, K > 0.
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
