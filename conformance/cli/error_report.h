#pragma once
// The table of errors that quantize and compare print.

#include <string>
#include <utility>
#include <vector>

#include "conformance/cli/error_statistics.h"

namespace fp4proof::cli {

/// A tensor's name and its errors.
using NamedErrors = std::pair<std::string, ErrorSums>;

/// One row a tensor, and a last row over all of them where there are several.
std::string error_table(const std::vector<NamedErrors>& tensors);

/// A number for a table: four significant digits, "-" where there is none.
std::string short_number(double value);

/// A share of 1 in percent.
std::string percent(std::int64_t part, std::int64_t whole);

}  // namespace fp4proof::cli
