#pragma once
// The steps that correct(), dequantize() and pack_residual() share, on whole tensors in rows (row-major [rows,
// columns], block axis last).

#include <cstdint>
#include <span>
#include <vector>

#include "reference/portable/correct.h"

namespace fp4proof::portable {

/// What the inner quantizer sees: the tensor in rows, after a Hadamard transform where the stack has one.
std::vector<float> inner_input(const CorrectionStack& stack, std::uint32_t product, const TensorView& tensor,
                               const Geometry& geometry);

/// Fills `result`, whose profile, stack and product are set, step by step on the whole tensor: any stack that
/// check_stack() accepts and a K that fits its Hadamard size. Errors: those of quantize().
Result<void> correct_by_steps(const TensorView& tensor, const Geometry& geometry, const QuantizeOptions& options,
                              Corrected& result);

/// What one part decodes to, in rows.
std::vector<float> decode_part(const Corrected& corrected, const CodedPart& part);

/// RN(input - decoded), element by element.
std::vector<float> difference(std::span<const float> input, std::span<const float> decoded);

}  // namespace fp4proof::portable
