#pragma once
// The part of the page of a verdict that is about one operation under one profile.

#include <string>

#include "conformance/report/document.h"

namespace fp4proof::report {

/// A card: counts, failed calls, alarms, diagnosis, the pictures of table_charts.h, causes, failing classes, the split
/// of the error.
/// @param anchor      its id on the page
/// @param most_cells  of the map of places
std::string failing_table_part(const Json& document, const Json& table, const std::string& anchor,
                               std::size_t most_cells);

}  // namespace fp4proof::report
