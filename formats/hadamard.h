#pragma once
// The signs of a random Hadamard transform. Rule C11 of docs/rules-corrections.md.

#include <cstdint>

#include "formats/float_bits.h"
#include "formats/philox.h"
#include "formats/spec_corrections.h"

namespace fp4proof {

/// The Philox step of the signs: the number of the product under `fresh`, else 0.
FP4PROOF_HD constexpr std::uint32_t hadamard_step(HadamardSigns signs, std::uint32_t product) {
  return signs == HadamardSigns::fresh ? product : 0;
}

/// The sign bit of a column, from its random word.
FP4PROOF_HD constexpr std::uint32_t hadamard_sign(std::uint32_t word) { return word & float_sign_mask; }

}  // namespace fp4proof
