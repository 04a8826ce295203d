#pragma once
// What papers say of training in four bits, asked of our runs.

#include <span>
#include <string>
#include <vector>

#include "conformance/training_report/effects.h"

namespace fp4proof::training_report {

enum class ClaimVerdict {
  holds,
  within_noise,  ///< the difference is smaller than what seeds make: neither shown nor refuted
  does_not_hold,
  not_run,     ///< a plan that it speaks of is missing
  not_finite,  ///< a number that it speaks of is not: the run diverged
};

struct Claim {
  std::string claim;
  std::string published;  ///< the numbers it rests on
  std::string ours;
  ClaimVerdict verdict = ClaimVerdict::not_run;
};

/// Differences of the final reward below this count as noise.
inline constexpr double reward_noise = 0.01;

/// All claims, in the order of the page.
std::vector<Claim> claims_of(std::span<const PlanEffect> effects);

std::string_view text_of(ClaimVerdict verdict);

}  // namespace fp4proof::training_report
