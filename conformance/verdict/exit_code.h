#pragma once
// The exit codes. Pinned: scripts rely on them, docs/exit-codes.md explains them, tests reach each.

#include "formats/result.h"

namespace fp4proof::verdict {

enum class ExitCode : int {
  conformant = 0,        ///< everything asked for was done, and nothing differs
  mismatch = 1,          ///< two things that should be equal differ
  usage = 2,             ///< the request cannot be met as given: options, paths, input data, no space left
  corrupt = 3,           ///< a file is malformed, truncated, or does not match its digest
  plugin_failed = 4,     ///< a plug-in could not be loaded, crashed, or ran out of time
  incomplete = 5,        ///< less was looked at than was asked for: missing cases, zero tests, nothing to quantize
  unsupported = 6,       ///< an operation that the profile requires is not offered
  nondeterministic = 7,  ///< two runs with the same input differ
  internal = 70,         ///< a fault of this program, or a machine whose arithmetic it cannot trust
};

/// The code to exit with when both hold. Precedence: 70, 2, 3, 4, 5, 7, 6, 1, 0. (2 normally ends a command before
/// any other code can arise; later it means that a result could not be written.)
ExitCode worse_of(ExitCode a, ExitCode b);

/// The exit code of a failure. usage, data and io give 2, corrupt 3, unsupported 6, internal 70.
ExitCode exit_code_of(ErrorKind kind);

}  // namespace fp4proof::verdict
