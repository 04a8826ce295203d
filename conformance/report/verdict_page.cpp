#include "conformance/report/verdict_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "conformance/report/failing_table_part.h"
#include "conformance/report/page_frame.h"
#include "conformance/report/page_text.h"
#include "conformance/report/verdict_matrix_part.h"
#include "conformance/report/verdict_page_style.h"
#include "conformance/report/worst_case_part.h"

namespace fp4proof::report {

namespace {

constexpr std::size_t most_cards = 30;
constexpr std::size_t most_cells_of_all_maps = 33000;
constexpr std::size_t most_cells_of_a_map = 16384;
constexpr std::size_t most_reasons = 12;
constexpr std::size_t most_faults = 60;
constexpr std::size_t most_waivers = 100;

/// What a verdict looks like: its colours, and a mark that can be told without them.
struct Look {
  const char* style;
  const char* mark;
};

Look look_of(const std::string& verdict) {
  if (verdict == "PASS") return {"pass", marks::tick};
  if (verdict == "FAIL") return {"fail", marks::cross};
  if (verdict == "STATISTICAL") return {"info", marks::wave};
  if (verdict == "INCOMPLETE") return {"warn", marks::dots};
  return {"fail", marks::exclamation};
}

std::vector<const Json*> failing_tables(const Json& document) {
  std::vector<const Json*> tables;
  for (const Json& table : at(document, "tables"))
    if (is_failing(table)) tables.push_back(&table);
  return tables;
}

/// Every diagnosis once, with the tables that it is true of.
using Diagnoses = std::vector<std::pair<std::string, std::vector<std::string>>>;

/// In the order of the document.
Diagnoses diagnoses_of(const Json& document) {
  Diagnoses all;
  for (const Json& table : at(document, "tables")) {
    const std::string text = text_at(at(table, "diagnosis"), "text");
    if (text.empty()) continue;
    auto found = std::ranges::find(all, text, [](const auto& entry) { return entry.first; });
    if (found == all.end()) found = all.insert(all.end(), {text, {}});
    found->second.push_back(table_name(table));
  }
  return all;
}

std::string most_frequent_cause(const Json& document) {
  CauseRow most;
  for (const Json& table : at(document, "tables"))
    for (const CauseRow& row : causes_of(table))
      if (row.cases > most.cases) most = row;
  if (most.cases == 0) return {};
  return fmt::format("Most often {} {}: {}", shown(most.cause, 40), shown(most.kind, 60),
                     shown(verify::likely_cause(most.kind)));
}

std::string list_of(const std::vector<std::string>& items, std::size_t most) {
  if (items.empty()) return {};
  std::string html = "<ul>";
  for (std::size_t i = 0; i < std::min(items.size(), most); ++i) html += fmt::format("<li>{}</li>", items[i]);
  if (items.size() > most) html += fmt::format("<li>and {} more</li>", items.size() - most);
  return html + "</ul>";
}

class Page {
 public:
  explicit Page(const Json& document) : document_(document), failing_(failing_tables(document)) {
    for (std::size_t i = 0; i < std::min(failing_.size(), most_cards); ++i) {
      anchors_[table_name(*failing_[i])] = fmt::format("table{}", i + 1);
    }
  }

  std::string text() const {
    const std::string title =
        fmt::format("{}: {} \u2013 fp4proof", text_at(document_, "verdict"), elided(subject_name(document_), 80));
    return html_document(
        title, verdict_page_style,
        subject() + verdict() + counts() + faults() + matrix() + failures() + mismatches() + waivers() + provenance());
  }

 private:
  std::string subject() const {
    const Json& subject = at(document_, "subject");
    std::string html = fmt::format("<p><b>fp4proof</b> <span class=\"faint\">{} of</span> <b>{}</b>",
                                   shown(text_at(document_, "command"), 20), shown(subject_name(document_), 160));
    const std::string description = text_at(subject, "description");
    if (!description.empty()) html += fmt::format(" <span class=\"faint\">\u2013 {}</span>", shown(description));
    const std::string source = text_at(at(document_, "cases"), "source");
    if (!source.empty()) html += fmt::format(" <span class=\"faint\">against {}</span>", shown(source, 120));
    return html + "</p>\n";
  }

  std::string verdict() const {
    const std::string word = text_at(document_, "verdict");
    const Look look = look_of(word);
    const auto code = integer_at(document_, "exit_code").value_or(0);
    return to_html(
        {look.style, look.mark, shown(word, 20), fmt::format("exit code {}, {}", code, exit_code_name(code)), why()});
  }

  /// The most useful sentence first: a diagnosis, else the reason of the exit code, else what fails most.
  std::string why() const {
    const verify::Tally tally = tally_of(at(document_, "tally"));
    std::vector<std::string> items = other_reasons();
    const auto diagnoses = diagnoses_of(document_);
    std::string lead;
    if (!diagnoses.empty()) {
      lead = shown(diagnoses.front().first, 400);
      const std::vector<std::string> lines = diagnosis_lines(diagnoses);
      items.insert(items.begin(), lines.begin(), lines.end());
    } else if (!items.empty()) {
      lead = items.front();
      items.erase(items.begin());
    } else if (tally.failed != 0) {
      lead = fmt::format("{} of {} differ", grouped(tally.failed), grouped(tally.total(), "case"));
      items.push_back(most_frequent_cause(document_));
    } else {
      lead = fmt::format("{} equal to the bit", grouped(tally.passed, "case"));
    }
    return fmt::format("<strong>{}</strong>{}", lead, list_of(items, most_reasons));
  }

  /// Reasons but for those that only count the wrong answers of a table, which the page shows in colours.
  std::vector<std::string> other_reasons() const {
    std::vector<std::string> others;
    for (const std::string& reason : texts_at(document_, "reasons"))
      if (!reason.ends_with(" wrong answers")) others.push_back(shown(reason));
    return others;
  }

  static std::vector<std::string> diagnosis_lines(const Diagnoses& diagnoses) {
    std::vector<std::string> lines;
    if (diagnoses.size() == 1 && diagnoses.front().second.size() == 1) return lines;
    for (const auto& [text, tables] : diagnoses) {
      const std::string where = tables.size() == 1 ? shown(tables.front(), 100) : grouped(tables.size(), "table");
      lines.push_back(fmt::format("{}: {}", where, shown(text, 200)));
    }
    return lines;
  }

  std::string counts() const {
    const verify::Tally tally = tally_of(at(document_, "tally"));
    const auto count = [](const char* style, std::uint64_t number, const char* name) {
      return fmt::format("<div class=\"{}\"><b>{}</b><span class=\"faint\">{}</span></div>", number == 0 ? "" : style,
                         grouped(number), name);
    };
    const std::size_t tables = at(document_, "tables").size();
    return "<section class=\"card\"><div class=\"counts\">" + count("is-failed", tally.failed, "cases failed") +
           count("is-passed", tally.passed, "passed") + count("", tally.skipped, "skipped") +
           count("is-failed", failing_.size(),
                 tables == 1 ? "of 1 table fails" : fmt::format("of {} tables fail", tables).c_str()) +
           "</div>" + tally_bar(tally) + "</section>\n";
  }

  std::string matrix() const {
    const std::string html = verdict_matrix_part(document_, anchors_);
    return html.empty() ? html : "<h2>Operations and profiles</h2>\n" + html;
  }

  std::string failures() const {
    if (failing_.empty()) return {};
    const std::size_t cards = std::min(failing_.size(), most_cards);
    const std::size_t cells = std::min(most_cells_of_a_map, most_cells_of_all_maps / cards);
    std::string html = "<h2>What fails</h2>\n";
    for (std::size_t i = 0; i < cards; ++i) {
      html += failing_table_part(document_, *failing_[i], anchors_.at(table_name(*failing_[i])), cells);
    }
    if (failing_.size() > cards) {
      html += fmt::format("<p>{} more failing tables stand in the table above and in the JSON document.</p>\n",
                          failing_.size() - cards);
    }
    return html;
  }

  std::string mismatches() const {
    const Json* worst = worst_mismatch(document_);
    if (worst == nullptr) return {};
    return "<h2>One mismatch, bit by bit</h2>\n" + worst_case_part(*worst) + mismatch_list(document_);
  }

  std::string faults() const {
    std::vector<std::string> items;
    for (const char* problem : {"load_problem", "close_problem"}) {
      const std::string text = text_at(document_, problem);
      if (!text.empty()) items.push_back(shown(text, 500));
    }
    for (const Json& fault : at(document_, "faults")) {
      items.push_back(fmt::format("<b>{}</b>: {} <span class=\"faint\">({} of group {} from {} on)</span>",
                                  shown(table_name(fault), 120), shown(text_at(fault, "what"), 500),
                                  grouped(count_at(fault, "cases"), "case"), shown(text_at(fault, "group"), 60),
                                  code(text_at(fault, "first_case"), 20)));
    }
    const std::uint64_t survivors = count_at(document_, "survivors");
    if (survivors != 0) items.push_back(grouped(survivors, "process") + "es left behind; they were ended");
    if (at(document_, "gave_up") == Json(true)) items.push_back("The run ended early after too many failures.");
    if (items.empty()) return {};
    return "<h2>Failures of the plug-in</h2>\n<section class=\"card\">" + list_of(items, most_faults) + "</section>\n";
  }

  std::string waivers() const {
    const Json& entries = at(at(document_, "waivers"), "entries");
    if (!entries.is_array() || entries.empty()) return {};
    std::string html =
        "<h2>Waivers</h2>\n<section class=\"card scroll\"><table><tr><th>state</th><th class=\"n\">cases</th>"
        "<th>what</th><th>until</th><th>owner</th><th>reason</th></tr>\n";
    for (std::size_t i = 0; i < std::min(entries.size(), most_waivers); ++i) html += waiver_row(entries[i]);
    html += "</table>";
    if (entries.size() > most_waivers) html += fmt::format("<p>and {} more</p>", entries.size() - most_waivers);
    return html + "</section>\n";
  }

  static std::string waiver_row(const Json& entry) {
    const std::string state = text_at(entry, "state");
    const std::string id = text_at(entry, "case");
    const std::string profile = text_at(entry, "profile");
    const std::string what = fmt::format("{}{}, {}", text_at(entry, "operation"), profile.empty() ? "" : " " + profile,
                                         id.empty() ? "class " + text_at(entry, "class") : "case " + id);
    return fmt::format(
        "<tr><td class=\"{}\">{}</td><td class=\"n\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        state == "used" ? "good" : "bad", shown(state, 20), grouped(count_at(entry, "cases")), shown(what, 160),
        shown(text_at(entry, "expiry"), 20), shown(text_at(entry, "owner"), 80), shown(text_at(entry, "reason")));
  }

  std::string provenance() const {
    const Json& subject = at(document_, "subject");
    const Json& cases = at(document_, "cases");
    const Json& host = at(document_, "host");
    std::string html = "<footer><h2>Where this comes from</h2>\n<section class=\"card small\"><table>\n";
    const auto row = [&](const char* name, const std::string& value) {
      if (!value.empty()) html += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", name, value);
    };
    const auto joined = [](std::initializer_list<std::string> parts) {
      std::string text;
      for (const std::string& part : parts)
        if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
      return text.empty() ? text : shown(text);
    };
    const auto coded = [](const std::string& text) { return text.empty() ? text : code(text, 400); };
    row("tool", joined({"fp4proof " + text_at(document_, "tool_version")}));
    row("command line", coded(command_line()));
    row("subject", joined({text_at(subject, "kind"), text_at(subject, "name"), text_at(subject, "version")}));
    row("path", coded(text_at(subject, "path")));
    row("SHA-256 of it", coded(text_at(subject, "sha256")));
    row("cases", joined({text_at(cases, "source"), "shard " + text_at(cases, "shard")}));
    row("seed", coded(text_at(cases, "seed")));
    row("SHA-256 of manifest", coded(text_at(cases, "manifest_sha256")));
    row("demands", demands());
    row("host", joined({text_at(host, "system"), text_at(host, "machine"), text_at(host, "processor")}));
    row("document", coded(text_at(document_, "format")));
    return html + "</table></section></footer>\n";
  }

  std::string demands() const {
    const Json& demands = at(document_, "demands");
    std::string text;
    for (const char* name : {"require", "level", "operation", "accumulate"}) {
      const std::string value = text_at(demands, name);
      if (!value.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value);
    }
    if (at(demands, "strict") == Json(true)) text += ", strict";
    if (at(demands, "ignore_codes_under_nan") == Json(true)) text += ", codes under NaN left out";
    return text.empty() ? text : shown(text);
  }

  std::string command_line() const {
    std::string line;
    for (const std::string& argument : texts_at(document_, "invocation")) {
      line += (line.empty() ? "" : " ") + quoted(argument);
    }
    return line;
  }

  /// As a POSIX shell wants it.
  static std::string quoted(const std::string& argument) {
    constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+@%";
    if (!argument.empty() && argument.find_first_not_of(plain) == std::string::npos) return argument;
    std::string text = "'";
    for (const char c : argument) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
  }

  const Json& document_;
  std::vector<const Json*> failing_;
  std::map<std::string, std::string> anchors_;
};

}  // namespace

std::string verdict_page(const Json& document) {
  const Json clean = readable(document);
  return Page(clean).text();
}

}  // namespace fp4proof::report
