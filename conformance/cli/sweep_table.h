#pragma once
// A sweep as people read it.

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "conformance/sweep/outcome.h"

namespace fp4proof::cli {

/// One line a plan; columns that no plan has a number for are left out.
std::string sweep_table(const nlohmann::json& summary);

/// A sentence for each run that diverged.
std::vector<std::string> divergence_notes(std::span<const sweep::Outcome> outcomes);

/// One line a run: index, seed, plan, folder, state.
std::string run_list(std::span<const sweep::Outcome> outcomes);

}  // namespace fp4proof::cli
