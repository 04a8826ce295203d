#pragma once
// Correction stacks as JSON objects. docs/corrections.md describes the form.

#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "formats/result.h"
#include "formats/spec_corrections.h"

namespace fp4proof {

/// A stack that outlives its maker: a named one of formats/spec_corrections.h, or one that a user wrote.
using SharedStack = std::shared_ptr<const CorrectionStack>;

/// The value of the field `format` in a file with a stack.
inline constexpr std::string_view corrections_format = "fp4proof-corrections/1";

/// `format`, `name`, `summary`, and the parts that are on, each complete:
///
///     "hadamard":       {"size": 16, "signs": "fixed", "seed": 0}      seed only with signs other than none
///     "tile":           32
///     "stochastic":     true
///     "three_quarters": true
///     "macro":          {"size": 128, "form": "multiply"}
///     "residual":       {"alpha": 1.0, "mask": "2:4"}                  top-channels: also fraction;
///                       top-tiles: also measure, fraction, tile "64x64"; tiles-above: also threshold, tile
nlohmann::json stack_to_json(const CorrectionStack& stack);

/// Reads a stack: `name` (required, not the name of a named stack), `summary`, `format`, `base` (a named stack to start
/// from), and parts. A part that is not there is off, or as in the base; null switches a part of the base off. A part
/// that the base does not have must be given with all its fields: nothing is guessed.
/// `usage` error, starting with `label`, for anything unknown, mistyped, out of range, missing, or without effect under
/// the chosen mask or signs. Whether a profile can take the stack is asked of portable::check_stack().
Result<SharedStack> stack_from_json(const nlohmann::json& value, std::string_view label);

}  // namespace fp4proof
