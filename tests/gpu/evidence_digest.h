#pragma once
// A digest of bytes that does not depend on the order in which they are added: threads and devices may add in any
// order, and two outputs agree if (with overwhelming likelihood, only if) their digests do.

#include <cstdint>

#include "formats/host_device.h"
#include "formats/mix64.h"

namespace fp4proof::evidence {

/// fp4proof::mix64 of a word behind the increment of splitmix64, so that 0 is not its own image.
FP4PROOF_HD constexpr std::uint64_t mix64(std::uint64_t word) { return fp4proof::mix64(word + 0x9E3779B97F4A7C15U); }

/// Which output a byte belongs to.
enum class Output : std::uint8_t {
  codes = 1,
  scales,
  tensor_scales,
  macro,
  residual_codes,
  residual_scales,
  residual_tensor_scales,
  residual_macro,
  values,
  product,
  terms,
  sums,
  counts,
  second = 64,  ///< added for the second of two results
};

/// The term of a byte; the digest is the sum of all terms modulo 2^64. Positions are below 2^48.
FP4PROOF_HD constexpr std::uint64_t digest_term(Output output, std::uint64_t position, std::uint8_t byte) {
  return mix64(static_cast<std::uint64_t>(output) << 56 | position << 8 | byte);
}

}  // namespace fp4proof::evidence
