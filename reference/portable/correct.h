#pragma once
// Corrected tensors: a profile and a stack of corrections, applied by one function. Rules: docs/rules-corrections.md.
//
// Same bits for any number of threads, compiler and instruction set.

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/result.h"
#include "formats/spec_corrections.h"
#include "reference/portable/accumulator.h"
#include "reference/portable/quantize.h"

namespace fp4proof::portable {

/// One coded part of a corrected tensor.
struct CodedPart {
  Quantized quantized;
  /// The factor byte of every macro block (C18), row-major [rows, macro_blocks_per_row]; empty without macro blocks.
  std::vector<std::uint8_t> macro;
};

/// A corrected tensor: everything that a kernel has to store, and what is needed to read it.
struct Corrected {
  Profile profile;  ///< the effective one: CorrectionStack::effective of the profile that was asked for
  CorrectionStack stack;
  std::uint32_t product = 0;  ///< the product number of HadamardSigns::fresh
  CodedPart first;
  std::optional<CodedPart> residual;  ///< with a residual; codes outside the mask are 0

  const Geometry& geometry() const { return first.quantized.geometry; }
};

struct CorrectOptions {
  QuantizeOptions quantize;   ///< axis, tail, random words
  std::uint32_t product = 0;  ///< the product number of HadamardSigns::fresh
};

/// Macro blocks of a row of `columns` elements: the last may be partial.
constexpr std::int64_t macro_blocks_per_row(const MacroSpec& macro, std::int64_t columns) {
  return macro.is_on() ? (columns + macro.size - 1) / macro.size : 0;
}

/// Refuses what C4 refuses, with the reason and what to choose instead: ErrorKind::usage.
Result<void> check_stack(const Profile& profile, const CorrectionStack& stack);

/// Codes a tensor under a profile and a stack. Errors: check_stack(), K no multiple of the Hadamard size, and those of
/// quantize().
Result<Corrected> correct(const Profile& profile, const CorrectionStack& stack, const TensorView& tensor,
                          const CorrectOptions& options = {});

/// What the corrected tensor stands for (C21), row-major [rows, columns], block axis last. restore_axis() of
/// dequantize.h brings it to the order of the input.
std::vector<float> dequantize(const Corrected& corrected);

/// The product of two corrected matrices (C40 to C42), row-major [M, N]; a plain matrix is one under the stack `none`.
/// Errors: those of gemm() in gemm.h, a residual on both sides, unequal Hadamard transforms or product numbers, unequal
/// macro sizes, a tensor-core model with macro blocks.
Result<std::vector<float>> gemm(const Corrected& a, const Corrected& b, Accumulator accumulator);

/// A 2:4 residual in packed form (C26): `codes` one byte a group of four, `places` one byte two groups, both row-major
/// over [rows, padded columns]. Only for 4-bit elements and ResidualMask::two_four.
struct PackedResidual {
  std::vector<std::uint8_t> codes;
  std::vector<std::uint8_t> places;
  std::int64_t code_bytes_per_row = 0;
  std::int64_t place_bytes_per_row = 0;
};
Result<PackedResidual> pack_residual(const Corrected& corrected, const TensorView& tensor,
                                     const CorrectOptions& options = {});
/// The codes [rows, code_bytes_per_row of the geometry] of a packed residual; ErrorKind::corrupt where sizes or places
/// (not rising) are impossible.
Result<std::vector<std::uint8_t>> unpack_residual(const Geometry& geometry, const PackedResidual& packed);

}  // namespace fp4proof::portable
