#pragma once
// A mixing function for digests that do not depend on the order in which their terms are added.

#include <cstdint>

#include "formats/host_device.h"

namespace fp4proof {

/// The finalizer of splitmix64: a bijection of 64-bit words in which every output bit depends on every input bit.
FP4PROOF_HD constexpr std::uint64_t mix64(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9U;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EBU;
  return word ^ (word >> 31);
}

}  // namespace fp4proof
