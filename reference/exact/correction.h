#pragma once
// Corrected matrices: a profile and a stack of corrections applied to binary32 words. Rules C1 to C42 of
// docs/rules-corrections.md, written out on exact numbers.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "formats/result.h"
#include "formats/spec_corrections.h"
#include "reference/exact/gemm.h"
#include "reference/exact/macro_block.h"

namespace fp4proof::exact {

/// One coded part: rows of 1D blocks that cover the padded row, and the byte of every macro block, row-major
/// [rows, macro blocks] (empty without macro blocks).
struct CodedPart {
  Operand operand;
  std::vector<std::uint8_t> macro;
};

/// A corrected matrix.
struct CorrectedMatrix {
  Profile profile;  ///< the effective one
  CorrectionStack stack;
  std::uint32_t product = 0;  ///< the product number of HadamardSigns::fresh
  MatrixShape shape;
  CodedPart first;
  std::optional<CodedPart> residual;
  std::vector<std::uint32_t> residual_words;  ///< r itself, [rows, cols]; not stored by an implementation
};

/// What is corrected: words [rows, cols], and under stochastic rounding one random word for each at its place. Columns
/// and (2D) the rows of each matrix continue with +0 to whole blocks.
struct CorrectionInput {
  MatrixShape shape;
  std::span<const std::uint32_t> words;
  std::span<const std::uint32_t> random_words;
};

/// C4: ErrorKind::usage where the stack contradicts itself or the profile.
Result<void> check_stack(const Profile& profile, const CorrectionStack& stack);

/// Codes a matrix. Errors: check_stack(), columns that are no multiple of the Hadamard size (usage), a block that the
/// profile refuses (data).
Result<CorrectedMatrix> correct(const Profile& profile, const CorrectionStack& stack, const CorrectionInput& input,
                                std::uint32_t product = 0);

/// x^ of C21, binary32 words [rows, cols].
std::vector<std::uint32_t> decode(const CorrectedMatrix& matrix);

/// C40 to C42: the words of C, M x N row-major. Errors (usage): a residual on both sides, unequal Hadamard transforms,
/// unequal macro sizes, a tensor-core model with macro blocks, and those of gemm() in gemm.h.
Result<std::vector<std::uint32_t>> gemm(const CorrectedMatrix& a, const CorrectedMatrix& b, Accumulator accumulator);

/// C26: a 2:4 residual in packed form over the padded columns, row-major.
struct PackedResidual {
  std::vector<std::uint8_t> codes;   ///< one byte a group of four columns
  std::vector<std::uint8_t> places;  ///< one byte two groups
};
PackedResidual pack_residual(const CorrectedMatrix& matrix);

}  // namespace fp4proof::exact
