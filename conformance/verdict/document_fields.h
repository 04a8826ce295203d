#pragma once
// Reading members of a report document, which must be there.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace fp4proof::verdict {

inline std::string text(const nlohmann::json& value, const char* field) { return value.at(field).get<std::string>(); }

inline std::uint64_t count(const nlohmann::json& value, const char* field) {
  return value.at(field).get<std::uint64_t>();
}

}  // namespace fp4proof::verdict
