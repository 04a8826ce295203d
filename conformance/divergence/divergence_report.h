#pragma once
// A divergence for people and for programs. docs/training.md shows both.

#include <nlohmann/json.hpp>
#include <string>

#include "conformance/divergence/divergence.h"

namespace fp4proof::training {

/// Several lines, each with an LF.
std::string divergence_text(const RecordedRun& a, const RecordedRun& b, const Divergence& divergence);

/// An object, `fp4proof-training-divergence/1`.
nlohmann::json divergence_json(const RecordedRun& a, const RecordedRun& b, const Divergence& divergence);

}  // namespace fp4proof::training
