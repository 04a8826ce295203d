#pragma once
// Where a block comes from: numbers that a user wrote, or a tensor.

#include <cstdint>
#include <optional>
#include <span>

#include "conformance/explain/explanation.h"
#include "formats/result.h"
#include "reference/portable/geometry.h"
#include "reference/portable/tensor.h"

namespace fp4proof::explain {

/// Where the random words of a profile that rounds stochastically come from; other profiles take none.
struct Randomness {
  std::optional<std::vector<std::uint32_t>> words;  ///< one an element that was given; else they are drawn from `seed`
  std::uint64_t seed = 0;  ///< Philox key; stream sr_activation, step 0, as portable::quantize() draws them
};

/// The block of the numbers `values`, filled with +0. A profile with a tensor scale takes `tensor_scale`, or without
/// one the scale of a tensor that holds these numbers alone. `usage` error for more values than the block has, random
/// words where none are taken or too few, and a tensor scale where none is taken.
Result<BlockQuestion> block_of_values(const Profile& profile, std::span<const std::uint32_t> values,
                                      const Randomness& randomness, std::optional<float> tensor_scale);

/// Which block of a tensor.
struct BlockAddress {
  int axis = -1;  ///< block axis, as QuantizeOptions::axis
  portable::Tail tail = portable::Tail::error;
  std::int64_t block = 0;  ///< 0-based; blocks along a row first, in 2D tiles along a band first
};

/// That block of a tensor, with the tensor's own scale and with the random words that portable::quantize() would use.
/// `usage` error as cut_into_blocks() has it, and for a block beyond the last.
Result<BlockQuestion> block_of_tensor(const Profile& profile, const portable::TensorView& tensor,
                                      const BlockAddress& address, const Randomness& randomness);

}  // namespace fp4proof::explain
