#pragma once
// From what a user writes after --correct to a stack.

#include <string_view>

#include "conformance/corrections/stack_json.h"
#include "formats/result.h"

namespace fp4proof {

/// The named stack of that exact name. A `usage` error suggests the nearest name and lists all.
Result<SharedStack> named_stack(std::string_view name);

/// A name, or the path of a file with a stack, which ends in `.json`. An `io` error for a file that cannot be read,
/// else errors of kind `usage`.
Result<SharedStack> find_stack_or_file(std::string_view name_or_path);

/// Reads a file with a stack.
Result<SharedStack> read_stack_file(std::string_view path);

}  // namespace fp4proof
