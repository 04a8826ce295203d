#pragma once
// JSON files that users write.

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

#include "formats/result.h"

namespace fp4proof {

/// Reads one strict JSON value (conformance/vectors/strict_json.h), nested at most `deepest` containers deep. An `io`
/// error for a file that cannot be read, a `usage` error for one that is no such value.
Result<nlohmann::json> read_json_file(std::string_view path, std::size_t deepest);

}  // namespace fp4proof
