#include "conformance/report/failing_table_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "conformance/report/decomposition_part.h"
#include "conformance/report/mismatch_view.h"
#include "conformance/report/page_text.h"
#include "conformance/report/table_charts.h"

namespace fp4proof::report {

namespace {

constexpr std::size_t open_classes = 8;  ///< the others are folded away
constexpr std::size_t most_classes = 40;
constexpr std::size_t most_charges = 5;
constexpr std::size_t most_causes = 12;
constexpr std::size_t most_explanations = 8;

using NamedTally = std::pair<std::string, verify::Tally>;

std::string explanation_item(const Json& explanation) {
  std::string changes;
  for (const Json& change : at(explanation, "changes")) {
    const std::string text = text_at(change, "text");
    changes += (changes.empty() ? "" : " + ") + (text.empty() ? text_at(change, "id") : text);
  }
  return fmt::format("<li>{}: {} explained, {} contradicted</li>", shown(changes),
                     grouped(count_at(explanation, "explained")), grouped(count_at(explanation, "contradicted")));
}

std::string diagnosis_part(const Json& table) {
  const Json& diagnosis = at(table, "diagnosis");
  const std::string text = text_at(diagnosis, "text");
  if (text.empty()) return {};
  std::string html = fmt::format("<div class=\"diagnosis\"><strong>{}</strong>", shown(text, 600));
  std::size_t listed = 0;
  const Json& explanations = at(diagnosis, "explanations");
  if (text_at(diagnosis, "outcome") != "explained" && !explanations.empty()) {
    html += "<ul>";
    for (const Json& explanation : explanations)
      if (listed++ < most_explanations) html += explanation_item(explanation);
    html += "</ul>";
  }
  return html + "</div>";
}

/// What else stands against the table: failed calls, alarms of the test of stochastic rounding.
std::string charges_part(const Json& document, const Json& table) {
  std::string html;
  std::size_t charges = 0;
  const auto add = [&](const std::string& text) {
    if (charges++ < most_charges) html += fmt::format("<div class=\"charge\">{}</div>", text);
  };
  for (const Json& fault : at(document, "faults")) {
    if (!same_table(fault, table)) continue;
    add(fmt::format("<strong>{}</strong> <span class=\"small\">({}, group {})</span>",
                    shown(text_at(fault, "what"), 500), grouped(count_at(fault, "cases"), "case"),
                    shown(text_at(fault, "group"), 60)));
  }
  for (const std::string& alarm : alarms_of(table)) add("<strong>" + shown(alarm, 500) + "</strong>");
  if (charges > most_charges) html += fmt::format("<p class=\"faint small\">and {} more</p>", charges - most_charges);
  return html;
}

std::string pictures_part(const Json& table, std::size_t most_cells) {
  std::string html;
  if (const auto map = place_map(table, most_cells)) html += inline_drawing(*map, "Map of the differing places");
  if (const auto chart = distance_chart(table)) html += inline_drawing(*chart, "Histogram of the distances");
  return html.empty() ? html : "<div class=\"pictures\">" + html + "</div>";
}

std::string causes_part(const Json& table) {
  const std::vector<CauseRow> rows = causes_of(table);
  if (rows.empty()) return {};
  std::string html =
      "<h4>First causes</h4><div class=\"scroll\"><table><tr><th>cause</th><th>kind</th><th class=\"n\">cases</th>"
      "<th>usually</th></tr>";
  for (std::size_t i = 0; i < std::min(rows.size(), most_causes); ++i) {
    html += fmt::format("<tr><td><b>{}</b></td><td>{}</td><td class=\"n\">{}</td><td>{}</td></tr>\n",
                        shown(rows[i].cause, 40), shown(rows[i].kind, 60), grouped(rows[i].cases),
                        shown(verify::likely_cause(rows[i].kind)));
  }
  html += "</table></div>";
  if (rows.size() > most_causes)
    html += fmt::format("<p class=\"faint small\">and {} more</p>", rows.size() - most_causes);
  return html;
}

std::string class_row(const NamedTally& entry) {
  const auto& [name, tally] = entry;
  const std::string_view purpose = class_purpose(name);
  return fmt::format(
      "<div><span class=\"name\">{}{}</span>{}<span class=\"count\">{} of {} fail</span></div>\n", code(name, 80),
      purpose.empty() ? "" : fmt::format("<br><span class=\"faint small\">catches: {}</span>", shown(purpose)),
      tally_bar(tally), grouped(tally.failed), grouped(tally.total()));
}

std::string classes_part(const Json& table) {
  std::vector<NamedTally> failing;
  std::string passing;
  std::size_t passing_count = 0;
  const Json& classes = at(table, "classes");
  if (!classes.is_object()) return {};
  for (const auto& [name, counts] : classes.items()) {
    const verify::Tally tally = tally_of(counts);
    if (tally.failed != 0) {
      failing.emplace_back(name, tally);
    } else if (tally.passed != 0 && ++passing_count <= most_classes) {
      passing += (passing.empty() ? "" : ", ") + code(name, 80);
    }
  }
  if (failing.empty()) return {};
  std::ranges::stable_sort(failing, std::ranges::greater(),
                           [](const NamedTally& entry) { return entry.second.failed; });
  std::string html = "<h4>Failing classes of cases</h4><div class=\"classes\">\n";
  const std::size_t listed = std::min(failing.size(), most_classes);
  for (std::size_t i = 0; i < listed; ++i) {
    if (i == open_classes) {
      html += fmt::format("<details><summary>{} more</summary>\n<div class=\"classes\">", listed - open_classes);
    }
    html += class_row(failing[i]);
  }
  html += listed > open_classes ? "</div></details></div>" : "</div>";
  if (failing.size() > most_classes)
    html += fmt::format("<p class=\"faint small\">and {} more</p>", failing.size() - most_classes);
  if (passing_count != 0) {
    html += fmt::format("<details class=\"small\"><summary>{} {}</summary><p>{}</p></details>", grouped(passing_count),
                        passing_count == 1 ? "class passes" : "classes pass", passing);
  }
  return html;
}

}  // namespace

std::string failing_table_part(const Json& document, const Json& table, const std::string& anchor,
                               std::size_t most_cells) {
  const verify::Tally tally = tally_of(at(table, "tally"));
  std::string html = fmt::format("<section class=\"card\" id=\"{}\"><div class=\"head\"><h3>{} \u00b7 {}</h3>", anchor,
                                 shown(text_at(table, "operation"), 40), shown(text_at(table, "profile"), 120));
  html += fmt::format("<span class=\"faint small\">{} failed of {}</span></div>{}", grouped(tally.failed),
                      grouped(tally.total(), "case"), tally_bar(tally));
  html += charges_part(document, table) + diagnosis_part(table) + pictures_part(table, most_cells) +
          causes_part(table) + classes_part(table) + decomposition_part(table);
  return html + "</section>\n";
}

}  // namespace fp4proof::report
