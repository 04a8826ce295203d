#pragma once
// From what a user writes after --plan to a precision plan.

#include <string_view>

#include "conformance/corrections/plan_json.h"
#include "formats/result.h"

namespace fp4proof {

/// The named plan of that exact name or alias. A `usage` error suggests the nearest name and lists all.
Result<SharedPlan> named_plan(std::string_view name);

/// A name or alias, or the path of a plan file, which ends in `.json`. An `io` error for a file that cannot be read,
/// else errors of kind `usage`.
Result<SharedPlan> find_plan_or_file(std::string_view name_or_path);

/// Reads a plan file.
Result<SharedPlan> read_plan_file(std::string_view path);

}  // namespace fp4proof
