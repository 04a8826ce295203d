#pragma once
// correct() on segments of rows that stay in cache: what needs no more than the row itself. Same bits as the steps of
// corrected_parts.h on whole tensors.

#include <optional>

#include "reference/portable/correct.h"

namespace fp4proof::portable {

/// Whether correct_by_segments() takes the stack: 1D blocks of MX or HiF4 along the last axis, rounding that needs no
/// random words, and no mask that mixes rows.
bool goes_by_segments(const Profile& effective, const CorrectionStack& stack, const Geometry& geometry);

/// Fills `result`, whose profile, stack and product are set. Every refusal is made before; nothing can fail.
void correct_by_segments(const TensorView& tensor, const Geometry& geometry, Corrected& result);

}  // namespace fp4proof::portable
