#pragma once
// The command line of a vendor's program.

#include <string>
#include <string_view>
#include <vector>

#include "formats/result.h"

namespace fp4proof::runners {

/// Cuts a command into its arguments. No shell takes part: spaces and tabs separate, text in '...' or "..." stays
/// together as it stands, a backslash outside of quotes or inside of "..." takes the next character as it stands, and
/// nothing else is special ($, *, |, ~ are plain characters). "" is an empty argument. `usage` error where a quote is
/// not closed, the text ends with a backslash, or there is no argument.
Result<std::vector<std::string>> split_command(std::string_view text);

}  // namespace fp4proof::runners
