#pragma once
// The answers of the oracle to the cases of a vector set, in the canonical bytes of the set.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/suite/case_group.h"
#include "reference/exact/block.h"
#include "reference/exact/gemm.h"

namespace fp4proof::oracle_answers {

using Words = std::vector<std::uint32_t>;
using ByteVector = std::vector<std::uint8_t>;

/// The words of a tensor of one case; empty where the group has no such tensor.
Words words_of(const suite::CaseGroup& group, std::string_view tensor, std::size_t index);

ByteVector bytes_of_words(const Words& words);

/// A matrix whose blocks run along its columns, padded with zeros to whole blocks.
struct BlockMatrix {
  std::size_t rows;         ///< without padding
  std::size_t padded_rows;  ///< 2D profiles fill the last tile
  std::size_t columns;      ///< with padding
  Words words;

  std::uint32_t at(std::size_t row, std::size_t column) const { return words[row * columns + column]; }
};

/// The input of a case in that form.
BlockMatrix block_matrix(const Profile& profile, const suite::GroupSpec& spec, const Words& input);
Words block_words(const Profile& profile, const BlockMatrix& matrix, std::size_t first_row, std::size_t first_column);

/// Two codes a byte, the even one low; wider codes a byte each.
ByteVector packed(const Profile& profile, const ByteVector& codes);

/// Canonical scale bytes of one row of a block.
ByteVector scale_bytes_of(const Profile& profile, const exact::EncodedBlock& block, int row);

/// An operand from canonical bytes whose tensors start with `prefix`.
exact::Operand operand_of(const Profile& profile, const suite::CaseGroup& group, std::size_t index,
                          const std::string& prefix, std::int64_t rows);

std::optional<exact::Accumulator> accumulator_named(std::string_view name);

/// The expected tensors of a case, in the order of the group; empty, with a test failure, where there is no answer.
std::vector<ByteVector> answer_of_oracle(const suite::CaseTable& table, const suite::CaseGroup& group,
                                         std::size_t index);

/// Those of the operations correct, correct-gemm and decompose.
std::vector<ByteVector> corrected_by_oracle(const Profile& profile, const suite::CaseGroup& group, std::size_t index);
std::vector<ByteVector> corrected_product_by_oracle(const Profile& profile, const suite::CaseGroup& group,
                                                    std::size_t index);
std::vector<ByteVector> decomposed_by_oracle(const Profile& profile, const suite::CaseGroup& group, std::size_t index);

}  // namespace fp4proof::oracle_answers
