#pragma once
// A report document as JUnit XML, which every CI host shows.

#include <string>

#include "conformance/report/document.h"

namespace fp4proof::report {

/// One suite for each operation and profile, one test case for each of its case classes: class name
/// "fp4proof.OPERATION.PROFILE", name of the class. A class with a failed case is a failure (first mismatches,
/// diagnosis); one of which nothing was compared is skipped. A failed call of a plug-in is an error in the suite of its
/// table, one on loading or closing in the suite "plug-in". The suite "verdict" holds one test case, which fails where
/// the exit code is not 0 and no other test case says so: a file without a failure or an error means exit code 0.
/// No times: the document has none. Ends with a line end.
std::string junit(const Json& document);

}  // namespace fp4proof::report
