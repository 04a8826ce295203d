#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

#include "formats/result.h"

namespace fp4proof::verdict {

/// Whether a report can be as this program wrote it. `corrupt` error that starts with `label` where a count is no
/// integer from 0 to 2^48, a tally is not the sum of its parts, causes and failures disagree, mismatches are listed of
/// tables that have none, a whole run has what only shards have or the other way round, or `exit_code`, `verdict` and
/// `reasons` are not those that the rest of the document gives.
Result<void> check_document(const nlohmann::json& document, std::string_view label);

}  // namespace fp4proof::verdict
