#pragma once
// The answers of the CPU reference to the questions of a table.

#include <cstdint>
#include <string_view>
#include <vector>

#include "conformance/suite/case_group.h"
#include "formats/result.h"

namespace fp4proof::suite {

/// Fills the expected tensors of every group from its inputs (whatever they held before).
/// `data` error where the profile refuses an input.
Result<void> answer_by_reference(CaseTable& table);

/// The accumulators under which a profile has gemm cases, the normative one first. Tensor-core models only where the
/// modelled instructions take the format.
std::vector<std::string_view> accumulators_for(const Profile& profile);

/// C of a gemm or correct-gemm case under any accumulator, as words.
Result<std::vector<std::uint32_t>> gemm_of_case(const Profile& profile, const CaseGroup& group, std::size_t index,
                                                std::string_view accumulator);

}  // namespace fp4proof::suite
