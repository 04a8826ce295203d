#pragma once
// The part of the page of a verdict that shows every operation and profile at a glance.

#include <map>
#include <string>

#include "conformance/report/document.h"

namespace fp4proof::report {

/// Profiles as rows, operations as columns, counts in coloured cells; profiles with failures come first.
/// @param anchors  table_name() -> id of its part on the page
std::string verdict_matrix_part(const Json& document, const std::map<std::string, std::string>& anchors);

}  // namespace fp4proof::report
