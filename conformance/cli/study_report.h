#pragma once
// The tables of `fp4proof study` as text, JSON and a page of charts.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "conformance/cli/study_run.h"

namespace fp4proof::cli {

/// One line a pair; refused pairs say so, with their reasons below the table.
std::string study_text(const StudyTable& table);

/// {"subject", "elements", "rows": [{"profile", "corrections", measures or "refused"}]}; docs/study.md.
nlohmann::json to_json(const StudyTable& table);

/// A self-contained HTML page. `description` says what was studied and how.
std::string study_page(const std::vector<StudyTable>& tables, const std::string& description);

/// The measured rows' numbers as the table and the page print them, in the order of study_headings().
std::vector<std::string> study_cells(const StudyRow& row);
std::vector<std::string> study_headings();

/// "PROFILE + CORRECTIONS", or the profile alone under the stack `none`.
std::string pair_name(const StudyRow& row);

}  // namespace fp4proof::cli
