#pragma once
// From the facts of a block to its scale and codes, one function a family. Each adds its steps, sets `row_scales` and
// gives every element its code; the block is neither refused nor settled by a special value before. Internal to the
// explanation.

#include "conformance/explain/block_facts.h"
#include "conformance/explain/explanation.h"

namespace fp4proof::explain {

void tell_mx(const BlockFacts& facts, Explanation& explanation);
void tell_hif4(const BlockFacts& facts, Explanation& explanation);
void tell_nvfp4(const BlockFacts& facts, Explanation& explanation);

/// A block whose scale is NaN: `scale` in every row, codes without meaning.
void tell_nan_block(const BlockFacts& facts, std::string_view rule, std::uint32_t scale, Explanation& explanation);

/// The random word of an element, 0 where the block has none.
std::uint32_t random_of(const Explanation& explanation, int index);

}  // namespace fp4proof::explain
