#include "conformance/diagnose/diagnose.h"

#include <algorithm>

namespace fp4proof::diagnose {

namespace {

TableDiagnosis diagnosis_of(const TableEvidence& table) {
  TableDiagnosis diagnosis;
  diagnosis.operation = table.operation;
  diagnosis.profile = table.asked->name;
  diagnosis.mismatches = table.failed;
  diagnosis.examined = table.failing.size();
  diagnosis.passing = table.passing.size();
  return diagnosis;
}

}  // namespace

std::vector<TableDiagnosis> diagnose(const Evidence& evidence, const DiagnoseOptions& options) {
  const auto total = static_cast<std::size_t>(
      std::ranges::count_if(evidence.tables(), [](const TableEvidence& table) { return table.failed != 0; }));
  std::vector<TableDiagnosis> diagnoses;
  for (const TableEvidence& table : evidence.tables()) {
    if (table.failed == 0) continue;
    diagnoses.push_back(diagnosis_of(table));
    if (options.progress) options.progress(diagnoses.size(), total);
  }
  return diagnoses;
}

}  // namespace fp4proof::diagnose
