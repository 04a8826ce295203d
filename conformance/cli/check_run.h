#pragma once
// From a request to reports and an exit code.

#include <nlohmann/json_fwd.hpp>

#include "conformance/cli/check_options.h"
#include "conformance/cli/session.h"
#include "conformance/verdict/check.h"

namespace fp4proof::cli {

/// Runs the check (with --resume those shards alone whose reports are not there), writes the reports, prints the
/// verdict, and says what speaks against it.
Result<ExitCode> run_check(const CheckOptions& options, verdict::CheckRequest request, Session& session);

/// Prints and writes a finished document, as run_check() does.
Result<ExitCode> conclude_check(const CheckOptions& options, const nlohmann::json& document, Session& session);

}  // namespace fp4proof::cli
