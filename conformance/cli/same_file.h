#pragma once

#include <string>

#include "formats/result.h"

namespace fp4proof::cli {

/// A `usage` error where both paths lead to one file: a result must not replace its own input.
Result<void> refuse_same_file(const std::string& input, const std::string& output);

}  // namespace fp4proof::cli
