#pragma once
// What a block holds, before any rule of its family. Internal to the explanation.

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/explain/explanation.h"

namespace fp4proof::explain {

struct BlockFacts {
  std::vector<std::uint32_t> words;  ///< after rounding and flushing of inputs
  int first_nan = -1;                ///< index, or -1
  int first_infinity = -1;
  int amax_index = -1;  ///< the first element with the largest finite magnitude; -1 where all are NaN or infinite
  std::uint32_t amax_bits = 0;
  int changed_inputs = 0;
};

BlockFacts read_facts(const Profile& profile, const BlockQuestion& question);

/// "element 5", in a tile "element 37 (row 1, column 5)".
std::string place_text(const BlockShape& shape, int index);

/// The steps that the families share: rounded inputs, NaN, infinity, amax. Sets the outcome.
void tell_inputs(const BlockFacts& facts, Explanation& explanation);

}  // namespace fp4proof::explain
