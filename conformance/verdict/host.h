#pragma once

#include <nlohmann/json.hpp>

namespace fp4proof::verdict {

/// {"system": "Linux 6.1.0", "machine": "x86_64", "processor": "..."}; empty texts where the system does not say.
nlohmann::json host_facts();

}  // namespace fp4proof::verdict
