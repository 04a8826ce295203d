#pragma once
// Groups of cases, cut into the calls in which a subject is asked them.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "conformance/suite/case_group.h"

namespace fp4proof::runners {

/// The most bytes, inputs and outputs together, of a call that holds more than one case. Part of what a run is: another
/// number would ask the same cases in other company.
inline constexpr std::size_t most_call_bytes = std::size_t{1} << 20;

/// A part of a group that is asked at once.
struct Call {
  suite::CaseGroup group;   ///< `group.first` says where it starts
  std::uint64_t place = 0;  ///< of its first case among all cases of the table
};

/// The calls of one group.
struct GroupCalls {
  suite::CaseGroup head;  ///< the first call without the bytes of its tensors, to ask whether the group is offered
  std::vector<Call> calls;
};

/// Cuts the groups of a table, which are left empty. Their order stays. Expected outputs may be missing.
std::vector<GroupCalls> cut_into_calls(suite::CaseTable& table);

}  // namespace fp4proof::runners
