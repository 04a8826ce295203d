#pragma once
// The inner quantizer of a stack: the effective profile under three-quarters or macro-block scaling. Internal to the
// oracle.

#include <cstdint>
#include <span>
#include <vector>

#include "reference/exact/correction.h"

namespace fp4proof::exact {

/// Codes a matrix: C14 to C18, C28, C30. Errors: a block that the profile refuses.
Result<CodedPart> code_part(const Profile& profile, const CorrectionStack& stack, const CorrectionInput& input);

/// What a coded part stands for, binary32 words [rows, cols]: C19, C28.
std::vector<std::uint32_t> decode_part(const Profile& profile, const CorrectionStack& stack, const MatrixShape& shape,
                                       const CodedPart& part);

}  // namespace fp4proof::exact
