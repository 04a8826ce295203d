#pragma once
// The smallest set of changes that gives every examined answer.

#include "conformance/diagnose/diagnose.h"

namespace fp4proof::diagnose {

/// The diagnosis of a table that has mismatches. First each change alone, the cheapest first; then pairs of changes of
/// different dimensions; then the changes that fit themselves to the evidence; at last the ones that explain most.
TableDiagnosis diagnose_table(const TableEvidence& table);

}  // namespace fp4proof::diagnose
