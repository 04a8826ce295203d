#pragma once
// What a verb of the command is. One file a verb; each file defines `const Verb NAME_verb`, and verbs.cpp lists them.

#include <CLI/CLI.hpp>
#include <functional>
#include <string_view>

#include "conformance/cli/exit_code.h"
#include "conformance/cli/session.h"
#include "formats/result.h"

namespace fp4proof::cli {

/// The work of a verb, called once after its options were parsed. Results go to session.print(), remarks to
/// session.note(). An Error is printed as `fp4proof: error: ...` and mapped to its exit code by the caller; a verb that
/// has to report several failures calls session.complain() for each and returns the worse_of() their codes.
using Action = std::function<Result<ExitCode>()>;

struct Verb {
  /// The word on the command line.
  std::string_view name;

  /// Describes the verb on `command` (description(), options, footer() with examples that work) and returns its
  /// action. The options' storage must live in the action, for example in a shared_ptr; `session` outlives both.
  Action (*add)(CLI::App& command, Session& session);
};

}  // namespace fp4proof::cli
