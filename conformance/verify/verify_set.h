#pragma once
// A whole set: against the answers in a file, or against the reference itself.

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "conformance/profiles/profile_json.h"
#include "conformance/suite/vector_set.h"
#include "conformance/verify/compare.h"
#include "formats/result.h"

namespace fp4proof::verify {

/// The accumulator whose gemm cases are wanted unless another is named.
inline constexpr std::string_view normative_accumulator = "seq512";

/// Stands for every accumulator.
inline constexpr std::string_view all_accumulators = "all";

struct VerifyRequest {
  std::filesystem::path folder;                 ///< a set, with or without expected outputs
  std::optional<std::filesystem::path> actual;  ///< the answers, a safetensors file
  SharedProfile profile;                        ///< only this one; all of the set if empty
  std::optional<suite::Operation> operation;    ///< only this one
  std::string accumulator;                      ///< gemm: only this one, or "all"
  std::optional<std::filesystem::path> errata;  ///< in place of errata_of_set()
  std::size_t most_mismatches = 10;
  CompareRules rules;
  CaseObserver observer;                            ///< sees every case that is compared
  std::function<void(std::size_t total)> progress;  ///< called after each of `total` tables
};

/// Compares every wanted case.
/// With `actual`: each expected tensor is looked up in the file under its name in the set. It must have the dtype width
/// and the shape of the set, but may hold fewer cases: then either its first ones in order, or those that a tensor
/// GROUP/case_id U64 lists. Expected outputs come from the set, or from the reference where the set has inputs only.
/// Without: the reference answers the questions of the set again, and its answers are compared with the set's.
/// Errors: `corrupt` for a damaged set or answer file, `usage` for a set without the profile or operation that is asked
/// for, for tensors of another shape or dtype, and for case ids that the set does not have.
Result<VerifyReport> verify_set(const VerifyRequest& request);

}  // namespace fp4proof::verify
