#pragma once
// A sweep at work.

#include <vector>

#include "conformance/cli/sweep_request.h"
#include "conformance/sweep/outcome.h"
#include "formats/result.h"

namespace fp4proof::cli {

/// Makes every pending run in the folder of the sweep, each a process of its own: first the warm starts that their
/// seeds share, then the plans. Writes sweep.json and sweep.csv at the start and behind every run. A run that fails is
/// told in its outcome and stops no other. Errors: what the folder does not take.
Result<void> make_pending_runs(const SweepOptions& options, const SweepRequest& request,
                               std::vector<sweep::Outcome>& outcomes);

}  // namespace fp4proof::cli
