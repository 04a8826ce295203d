#pragma once
// An order-free digest of a function from 32-bit words to 32-bit words: threads and devices may add the terms in any
// order, and two implementations agree on all words if (with overwhelming likelihood, only if) their digests agree.

#include <cstdint>

#include "formats/host_device.h"

namespace fp4proof::exhaustive {

/// The finalizer of splitmix64: a bijection of 64-bit words in which every output bit depends on every input bit.
FP4PROOF_HD constexpr std::uint64_t mix64(std::uint64_t word) {
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9U;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EBU;
  return word ^ (word >> 31);
}

/// The term of one input word and its output word; the digest is the sum of all terms modulo 2^64.
FP4PROOF_HD constexpr std::uint64_t digest_term(std::uint32_t input, std::uint32_t output) {
  return mix64((static_cast<std::uint64_t>(input) << 32) | output);
}

}  // namespace fp4proof::exhaustive
