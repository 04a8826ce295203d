#pragma once
// Precision plans as JSON objects. docs/corrections.md describes the form.

#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "formats/result.h"
#include "formats/spec_plans.h"

namespace fp4proof {

/// A plan that outlives its maker: a named one of formats/spec_plans.h, or one that a user wrote.
using SharedPlan = std::shared_ptr<const PrecisionPlan>;

/// The value of the field `format` in a plan file.
inline constexpr std::string_view plan_format = "fp4proof-plan/1";

/// The key of a product in a plan file, for example "input_gradient".
std::string_view plan_key_of(Product product);

/// The complete plan:
///
///     "rollout":         {"activation": {"profile": P, "stack": S}, "weight": {...}}      "forward" alike
///     "input_gradient":  {"gradient": {...}, "weight": {...}}
///     "weight_gradient": {"gradient": {...}, "activation": {...}}
///     "requantize_corrected", "allow_batch_masks": true or false
///     "stochastic_rounding": none, gradient, backward            "query_key": off, projections, products
///     "noise": {"sigma_start", "sigma_end", "intervals", "first_silent", "norms", "skip_router_norms"}; only when on
nlohmann::json plan_to_json(const PrecisionPlan& plan);

/// Reads a plan: `name` (required, not the name of a named plan), `summary`, `format`, `base` (a named plan to start
/// from), and fields. Without `base` everything but `noise` must be there: nothing is guessed. `noise` is off where it
/// is missing, or as in the base; null switches that of the base off. Profiles and stacks are names or paths of `.json`
/// files, relative to the working directory.
/// `usage` error, starting with `label`, for anything unknown, mistyped, missing, or refused by check_plan().
Result<SharedPlan> plan_from_json(const nlohmann::json& value, std::string_view label);

}  // namespace fp4proof
