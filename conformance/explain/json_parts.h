#pragma once
// The JSON forms that several parts of an explanation share. docs/explain.md describes them.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "conformance/explain/explanation.h"

namespace fp4proof::explain {

nlohmann::json number_json(const Rational& value);
nlohmann::json optional_number(const std::optional<Rational>& value);
nlohmann::json word_json(std::uint32_t word);
nlohmann::json step_json(const Step& step);

}  // namespace fp4proof::explain
