#pragma once
// What a plug-in says about itself and offers.

#include <string>

#include "conformance/cli/exit_code.h"
#include "conformance/cli/session.h"
#include "formats/result.h"

namespace fp4proof::cli {

/// Loads the library in a process of its own, asks about every group of cases of the set smoke, and prints the answers.
/// No case is run. plugin_failed where the library is no plug-in, crashes or does not answer.
Result<ExitCode> show_plugin(const std::string& path, bool as_json, Session& session);

}  // namespace fp4proof::cli
