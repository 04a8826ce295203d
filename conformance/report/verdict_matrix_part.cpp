#include "conformance/report/verdict_matrix_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "conformance/report/page_text.h"

namespace fp4proof::report {

namespace {

constexpr std::size_t most_profiles = 200;

bool has_fault(const Json& document, const Json& table) {
  const Json& faults = at(document, "faults");
  return std::any_of(faults.begin(), faults.end(), [&](const Json& fault) { return same_table(fault, table); });
}

struct Cell {
  const char* style = "none";
  std::string text;
};

Cell cell_of(const Json& document, const Json& table) {
  const verify::Tally tally = tally_of(at(table, "tally"));
  if (has_fault(document, table)) {
    return {"fail", fmt::format("<b>! fault</b> {}/{}", grouped(tally.failed), grouped(tally.total()))};
  }
  if (tally.failed != 0) {
    return {"fail", fmt::format("<b>\u2717</b> {}/{}", grouped(tally.failed), grouped(tally.total()))};
  }
  if (!alarms_of(table).empty()) return {"fail", "<b>\u2717</b> alarm"};
  if (at(table, "statistical").is_object()) return {"info", fmt::format("<b>~</b> {}", grouped(tally.passed))};
  if (tally.passed == 0) return {"none", "\u2013"};
  if (tally.skipped != 0) {
    return {"warn", fmt::format("<b>\u2713</b> {}/{}", grouped(tally.passed), grouped(tally.total()))};
  }
  return {"pass", fmt::format("<b>\u2713</b> {}", grouped(tally.passed))};
}

struct Row {
  std::string profile;
  std::map<std::string, const Json*> tables;  ///< by operation
  bool is_failing = false;
};

std::vector<Row> rows_of(const Json& document) {
  std::vector<Row> rows;
  std::map<std::string, std::size_t> places;
  for (const Json& table : at(document, "tables")) {
    const std::string profile = text_at(table, "profile");
    const auto [place, is_new] = places.try_emplace(profile, rows.size());
    if (is_new) rows.push_back({profile, {}, false});
    rows[place->second].tables[text_at(table, "operation")] = &table;
    if (is_failing(table)) rows[place->second].is_failing = true;
  }
  std::stable_partition(rows.begin(), rows.end(), [](const Row& row) { return row.is_failing; });
  return rows;
}

std::vector<std::string> operations_of(const std::vector<Row>& rows) {
  std::vector<std::string> operations;
  for (const std::string_view name : suite::operation_names) {
    const auto has_it = [&](const Row& row) { return row.tables.contains(std::string(name)); };
    if (std::ranges::any_of(rows, has_it)) operations.emplace_back(name);
  }
  return operations;
}

}  // namespace

std::string verdict_matrix_part(const Json& document, const std::map<std::string, std::string>& anchors) {
  const std::vector<Row> rows = rows_of(document);
  if (rows.empty()) return {};
  const std::vector<std::string> operations = operations_of(rows);
  std::string html = "<div class=\"card scroll\"><table class=\"matrix\"><thead><tr><th></th>";
  for (const std::string& operation : operations) html += fmt::format("<th>{}</th>", operation);
  html += "</tr></thead><tbody>\n";
  for (std::size_t i = 0; i < std::min(rows.size(), most_profiles); ++i) {
    html += fmt::format("<tr><th>{}</th>", shown(rows[i].profile, 80));
    for (const std::string& operation : operations) {
      const auto found = rows[i].tables.find(operation);
      if (found == rows[i].tables.end()) {
        html += "<td class=\"blank\"></td>";
        continue;
      }
      const Cell cell = cell_of(document, *found->second);
      const auto anchor = anchors.find(table_name(*found->second));
      html += fmt::format("<td class=\"{}\" title=\"{}\">", cell.style,
                          verify::to_text(tally_of(at(*found->second, "tally"))));
      html += anchor == anchors.end() ? cell.text : fmt::format("<a href=\"#{}\">{}</a>", anchor->second, cell.text);
      html += "</td>";
    }
    html += "</tr>\n";
  }
  html += "</tbody></table>";
  if (rows.size() > most_profiles) html += fmt::format("<p>and {} more profiles</p>", rows.size() - most_profiles);
  return html +
         "<p class=\"faint small\">\u2713 passed \u00b7 \u2717 failed of all \u00b7 yellow: passed, but not all were "
         "compared \u00b7 ~ passed a statistical test \u00b7 \u2013 nothing compared</p></div>\n";
}

}  // namespace fp4proof::report
