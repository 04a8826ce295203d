#pragma once

#include <nlohmann/json.hpp>

namespace fp4proof::verdict {

/// The diagnosis of two shards together, both as reports hold them: the changes that explain the mismatches of both,
/// counts added. One such set is `explained`, several are `ambiguous`. Null where there is none, or where one of the
/// shards knows but a part.
nlohmann::json merged_diagnosis(const nlohmann::json& a, const nlohmann::json& b);

}  // namespace fp4proof::verdict
