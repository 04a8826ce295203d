#pragma once
// The answers of the CPU reference to one case of a correction or a decomposition.

#include <cstdint>
#include <string_view>
#include <vector>

#include "conformance/suite/case_group.h"
#include "formats/result.h"

namespace fp4proof::suite {

/// The expected tensors of one case, in the order of the group.
using Answer = std::vector<std::vector<std::uint8_t>>;

Result<Answer> corrected_answer(const Profile& profile, const CaseGroup& group, std::size_t index);
Result<Answer> decomposed_answer(const Profile& profile, const CaseGroup& group, std::size_t index);

/// C of a correct-gemm case under any accumulator, as words.
Result<std::vector<std::uint32_t>> corrected_product(const Profile& profile, const CaseGroup& group, std::size_t index,
                                                     std::string_view accumulator);

}  // namespace fp4proof::suite
