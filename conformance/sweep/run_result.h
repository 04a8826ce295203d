#pragma once
// What a finished run of a sweep says of itself, in numbers.

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "conformance/sweep/sweep.h"
#include "formats/result.h"

namespace fp4proof::sweep {

/// The numbers of a run, in the order of tables. docs/training.md says what they are.
inline constexpr std::array measures = {"final_reward",  "mean_reward",   "steps_to_0.8",      "final_k3",
                                        "first_entropy", "final_entropy", "deadzone_fraction", "scale_bias",
                                        "deadzone",      "grid",          "gradient_cosine"};

/// {"digest": "...", "diverged_at": the first step with a number that is not finite, or null, and every one of
/// `measures`: a finite number or null}; null where the run in `folder` has not ended.
/// `usage` error for a folder with another run, `corrupt` for records that make no sense.
Result<nlohmann::json> read_run(const std::filesystem::path& folder, const SweepRun& run);

}  // namespace fp4proof::sweep
