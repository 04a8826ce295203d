#include "conformance/diagnose/diagnose.h"

#include <algorithm>

#include "conformance/diagnose/search.h"

namespace fp4proof::diagnose {

std::vector<TableDiagnosis> diagnose(const Evidence& evidence, const DiagnoseOptions& options) {
  const auto total = static_cast<std::size_t>(
      std::ranges::count_if(evidence.tables(), [](const TableEvidence& table) { return table.failed != 0; }));
  std::vector<TableDiagnosis> diagnoses;
  for (const TableEvidence& table : evidence.tables()) {
    if (table.failed == 0) continue;
    diagnoses.push_back(diagnose_table(table));
    if (options.progress) options.progress(diagnoses.size(), total);
  }
  return diagnoses;
}

}  // namespace fp4proof::diagnose
