#pragma once
// The part of the page of a verdict that shows what the errors of wrong answers consist of.

#include <string>

#include "conformance/report/document.h"

namespace fp4proof::report {

/// Two bars, of the right answers and of the actual ones, from the `decomposition` of a table; "" where it has none.
std::string decomposition_part(const Json& table);

}  // namespace fp4proof::report
