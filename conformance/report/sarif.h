#pragma once
// A report document as SARIF 2.1.0, which code-scanning pages read.

#include <string>

#include "conformance/report/document.h"

namespace fp4proof::report {

/// One run. Rules are CAUSE/KIND for what failed, PLUGIN/fault and the like. Results: one for each mismatch of the
/// document, one for each cause and kind of a table of which the document keeps no mismatch, one for each failed call
/// of the plug-in, one for each alarm of a statistical test; where there would be none and the exit code is not 0, one
/// that says why. A fingerprint is made of the case and the kind (where there is no case: operation, profile, cause and
/// kind), so an alert stays the same from release to release. Everything points at the first line of the subject: its
/// path as it was given, or the name of the cases where it has none. Paths below the working folder stay relative,
/// which is what code-scanning hosts want. At most 5 000 results, which is what they show; a notification says how many
/// were left out. Two spaces, ends with a line end.
std::string sarif(const Json& document);

}  // namespace fp4proof::report
