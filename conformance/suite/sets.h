#pragma once
// The sets: which classes, how far, and how many cases of each.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "conformance/suite/case_class.h"

namespace fp4proof::suite {

/// A named set. `smoke` and `quick` are committed under vectors/, `full` is generated where it is needed.
struct SetPlan {
  std::string_view name;
  std::string_view summary;
  Level level;
};

std::span<const SetPlan> sets();

/// The set of that name, or nullptr.
const SetPlan* find_set(std::string_view name);

/// The seed of every set. Part of the vectors: never changed.
inline constexpr std::uint64_t suite_seed = 0x4F95'EED0'0000'0001U;

/// The most cases that a set takes from a class under a profile; 0 where the class is left out.
std::size_t most_cases(const SetPlan& set, const Profile& profile, const CaseClass& of_class);

}  // namespace fp4proof::suite
