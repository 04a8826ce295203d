#pragma once
// Which case of a group brings a subject down.

#include <chrono>
#include <string>

#include "conformance/runners/subject.h"

namespace fp4proof::runners {

/// How much a search may cost: each part of the group that fails costs a restart, each that hangs a time limit.
struct FaultSearchLimits {
  std::size_t most_faults = 16;
  std::chrono::milliseconds time{30'000};
};

/// Asks parts of a group whose call failed, halving what fails. `fault` and what was found, for example
/// "...; case 00c0ffee00c0ffee fails alone"; `fault` alone for a group of one case. An error is ours.
Result<std::string> with_case_at_fault(const std::string& fault, Subject& subject, suite::Operation operation,
                                       const Profile& profile, const suite::CaseGroup& group,
                                       const FaultSearchLimits& limits = {});

}  // namespace fp4proof::runners
