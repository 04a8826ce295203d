#pragma once
// One case of quantize. Part of classify.h.

#include "conformance/verify/classify.h"

namespace fp4proof::verify {

/// As classify_case(), but for UNWRITTEN. `expected`, `actual`: codes, scales, and where the profile has one the tensor
/// scale.
std::optional<Finding> classify_quantize(const suite::CaseTable& table, const suite::CaseGroup& group,
                                         std::size_t index, std::span<const Bytes> expected,
                                         std::span<const Bytes> actual, const CompareRules& rules);

}  // namespace fp4proof::verify
