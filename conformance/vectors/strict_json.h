#pragma once
// JSON as RFC 8259 has it, without the leniencies that hide errors.

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string_view>

#include "formats/result.h"

namespace fp4proof {

/// Parses `text`, which must be one JSON value and white space. On top of the grammar and valid UTF-8 it refuses
/// duplicate keys in an object, a byte order mark, NUL bytes, and nesting deeper than `deepest` containers
/// (a scalar has depth 0, `[]` has depth 1). A `corrupt` error names `label` (what the text is, for example a quoted
/// path) and the place. Memory: up to 25 times the text, for arrays of short values.
Result<nlohmann::json> parse_strict_json(std::string_view text, std::string_view label, std::size_t deepest);

}  // namespace fp4proof
