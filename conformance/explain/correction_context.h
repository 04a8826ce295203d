#pragma once
// The numbers that decide about one corrected block. A correction looks beyond the block: at a Hadamard group, a macro
// block, or with the masks by channels and tiles at the whole tensor.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "conformance/explain/block_source.h"
#include "formats/result.h"
#include "formats/spec_corrections.h"
#include "reference/portable/tensor.h"

namespace fp4proof::explain {

/// Whole rows of a tensor, block axis last, and where the block stands in them.
struct CorrectionContext {
  std::vector<std::uint32_t> words;   ///< binary32, as many as `shape` says
  std::vector<std::int64_t> shape;    ///< block axis last
  std::vector<std::uint32_t> random;  ///< one random word an element where profile or stack round stochastically
  std::int64_t row = 0;               ///< first row of the block, all axes but the last flattened
  std::int64_t column = 0;            ///< first column of the block
  std::size_t given = 0;              ///< how many words are the user's; the others are +0 that fill the block
  bool holds_all = false;             ///< whether these rows are the whole tensor
  std::string source;                 ///< for the reader: where the block comes from; may be empty
  std::string random_source;          ///< for the reader; may be empty

  portable::TensorView view() const {
    return {portable::DType::f32, shape, reinterpret_cast<const std::byte*>(words.data())};
  }
};

/// Elements that `--values` has to give for a block under a stack: the block, its Hadamard group and its macro block.
struct ContextShape {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t count() const { return rows * columns; }
};
ContextShape context_shape(const Profile& profile, const CorrectionStack& stack);

/// The numbers `values` as a whole tensor of context_shape(); `block` says which of its blocks is meant. Where the
/// shape is a single block, missing values are +0. `usage` error for other numbers of values, random words where none
/// are taken or too few, a block that is not there, and a stack that check_stack() refuses.
Result<CorrectionContext> context_of_values(const Profile& profile, const CorrectionStack& stack,
                                            std::span<const std::uint32_t> values, const Randomness& randomness,
                                            std::int64_t block);

/// The rows of a tensor that decide about one of its blocks: the row, the rows of its tile or macro block, or all rows
/// where a mask or a tensor scale asks for them. `address.block` counts blocks of the profile under the stack's tile.
/// `usage` error as cut_into_blocks() has it, for a block beyond the last, and for a stack that check_stack() refuses.
Result<CorrectionContext> context_of_tensor(const Profile& profile, const CorrectionStack& stack,
                                            const portable::TensorView& tensor, const BlockAddress& address,
                                            const Randomness& randomness);

}  // namespace fp4proof::explain
