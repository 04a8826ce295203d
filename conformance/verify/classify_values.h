#pragma once
// One case of dequantize or gemm, whose answers are binary32 words. Part of classify.h.

#include "conformance/verify/classify.h"

namespace fp4proof::verify {

/// As classify_case(), but for UNWRITTEN. `expected`, `actual`: the matrix of words.
std::optional<Finding> classify_values(const suite::CaseTable& table, const suite::CaseGroup& group, std::size_t index,
                                       std::span<const Bytes> expected, std::span<const Bytes> actual);

}  // namespace fp4proof::verify
