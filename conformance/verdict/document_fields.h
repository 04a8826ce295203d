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

/// "gemm under mxfp4-rne": what a table of a document is about.
inline std::string table_name(const nlohmann::json& table) {
  return text(table, "operation") + " under " + text(table, "profile");
}

}  // namespace fp4proof::verdict
