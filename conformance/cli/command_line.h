#pragma once
// From the words on the command line to an exit code.

namespace fp4proof::cli {

/// Runs the verb that the arguments name and returns the exit code of the process. Never throws.
int run(int count, const char* const* arguments);

}  // namespace fp4proof::cli
