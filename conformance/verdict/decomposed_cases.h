#pragma once
// What the errors of wrong answers to quantize consist of, beside those of the right ones.

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "conformance/verify/compare.h"

namespace fp4proof::verdict {

/// Squared errors over |x|^2 of the case, summed over cases; docs/decomposition.md has the terms. The share of each
/// case is rounded to a multiple of 2^-24, half away from zero, so sums are exact in any order and shards add up to the
/// bit.
struct SplitSum {
  double error = 0;
  double scale = 0;
  double deadzone = 0;
  double grid = 0;
};

/// Of one profile.
struct DecomposedTable {
  std::uint64_t cases = 0;     ///< in the sums
  std::uint64_t left_out = 0;  ///< without a sensible share
  SplitSum expected;
  SplitSum actual;
};

/// A group may have millions of cases: of each its first ones are decomposed. Whether a case is one of them depends on
/// nothing but its place in the group, so shards agree.
inline constexpr std::uint64_t most_decomposed_cases = 4096;

/// A case is left out where an error of one of its two answers is larger than this times |x|: a wild answer would drown
/// all others.
inline constexpr double largest_decomposed_error = 4.0;

/// Decomposes the wrong answers to quantize, and the right ones to the same cases, under each profile that rounds
/// deterministically. Left out is also a case where a number of x or of an answer is NaN or infinite, or all of x is 0.
/// For one thread.
class DecomposedCases {
 public:
  void saw(const verify::ComparedCase& compared);

  /// `decomposition` of the quantize table under a profile, as docs/schema/report.schema.json has it; null where no
  /// wrong answer was decomposed or left out.
  nlohmann::json of_profile(std::string_view profile) const;

 private:
  std::map<std::string, DecomposedTable, std::less<>> tables_;
};

/// The same table seen by two shards: everything added.
nlohmann::json sum_of_decompositions(const nlohmann::json& a, const nlohmann::json& b);

}  // namespace fp4proof::verdict
