#pragma once
// The part of the page of a verdict that shows mismatches: one bit by bit, the next ones in a list.

#include <string>

#include "conformance/report/document.h"

namespace fp4proof::report {

/// The mismatch to look at first, or nullptr: of the table with most failures the one that the document explains, else
/// the one of the most frequent cause and kind that is farthest off.
const Json* worst_mismatch(const Json& document);

/// A card on a mismatch: its numbers with their fields, the bits that differ marked, the rule, what usually lies
/// behind, and the steps to the right answer where the document has them.
std::string worst_case_part(const Json& mismatch);

/// The first mismatches as a table; "" where there are none.
std::string mismatch_list(const Json& document);

}  // namespace fp4proof::report
