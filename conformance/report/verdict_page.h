#pragma once
// A report document as one HTML page for people.

#include <string>

#include "conformance/report/document.h"

namespace fp4proof::report {

/// One self-contained page: no script, nothing to load, light and dark as the reader's system asks. From the top: the
/// verdict with its exit code and what explains it; the counts; every operation and profile as a coloured cell; for
/// each table with failures what was diagnosed, where and by how far it fails, and its classes; one mismatch bit by
/// bit; the next ones; waivers, failures of the plug-in, where all of it comes from. Long lists are cut, and say so.
/// Below 2 MB for any document.
std::string verdict_page(const Json& document);

}  // namespace fp4proof::report
