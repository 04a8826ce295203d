#pragma once
// One case of correct or decompose. Part of classify.h.

#include "conformance/verify/classify.h"

namespace fp4proof::verify {

/// As classify_case(), but for UNWRITTEN. The parts are looked at in the order in which a kernel makes them: macro
/// factors, scales and codes of the first part, then of the residual, then the values. A wrong code has the kinds of
/// quantize (element_kind()), with what the part codes as its input, and residual-mask where a mask leaves elements out
/// and one of the two codes is zero.
std::optional<Finding> classify_correction(const suite::CaseTable& table, const suite::CaseGroup& group,
                                           std::size_t index, std::span<const Bytes> expected,
                                           std::span<const Bytes> actual);

/// As classify_case(), but for UNWRITTEN: terms before sums before counts.
std::optional<Finding> classify_decomposition(const suite::CaseGroup& group, std::span<const Bytes> expected,
                                              std::span<const Bytes> actual);

}  // namespace fp4proof::verify
