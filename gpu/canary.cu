#include "formats/float_bits.h"
#include "gpu/canary.h"
#include "gpu/launch.h"

namespace fp4proof::gpu {

namespace {

/// The operands come from memory, so that the compiler cannot evaluate anything itself.
__global__ void evaluate(float one, std::uint32_t* faults) {
  const float just_above = one + 0x1p-12F;
  const bool contracted = just_above * just_above - one != 0x1p-11F;
  const bool flushed = float_bits(one * 0x1p-75F * 0x1p-74F) != 1U;
  const bool approximate = float_bits(one / 3.0F) != 0x3EAAAAABU;
  const bool rounded_otherwise = one + 0x1p-24F != one || one + 0x1.8p-23F != one + 0x1p-22F;
  *faults = (contracted ? 1U : 0U) + (flushed ? 1U : 0U) + (approximate ? 1U : 0U) + (rounded_otherwise ? 1U : 0U);
}

}  // namespace

Status count_arithmetic_faults(std::uint32_t* faults, cudaStream_t stream) {
  evaluate<<<1, 1, 0, stream>>>(1.0F, faults);
  return launch_status();
}

}  // namespace fp4proof::gpu
