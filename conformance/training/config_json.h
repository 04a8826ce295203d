#pragma once
// Configurations as JSON: what run.json holds, and what tells one run from another.

#include <nlohmann/json.hpp>
#include <string>

#include "conformance/training/config.h"
#include "formats/spec_plans.h"

namespace fp4proof::training {

/// Every field that can change a bit.
nlohmann::json config_to_json(const Config& config);

/// The JSON of a plan without its name, summary and format: what decides the bits of a run.
nlohmann::json without_words(nlohmann::json plan);

/// What the warm start depends on, and the whole run: equal texts mean equal runs. Presets have no part in it.
std::string warm_start_identity(const Config& config);
std::string run_identity(const Config& config, const PrecisionPlan& plan);

}  // namespace fp4proof::training
