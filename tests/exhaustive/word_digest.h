#pragma once
// An order-free digest of a function from 32-bit words to 32-bit words: threads and devices may add the terms in any
// order, and two implementations agree on all words if (with overwhelming likelihood, only if) their digests agree.

#include <cstdint>

#include "formats/host_device.h"
#include "formats/mix64.h"

namespace fp4proof::exhaustive {

/// The term of one input word and its output word; the digest is the sum of all terms modulo 2^64.
FP4PROOF_HD constexpr std::uint64_t digest_term(std::uint32_t input, std::uint32_t output) {
  return mix64((static_cast<std::uint64_t>(input) << 32) | output);
}

}  // namespace fp4proof::exhaustive
