#include "conformance/report/worst_case_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "conformance/profiles/profile_lookup.h"
#include "conformance/report/mismatch_view.h"
#include "conformance/report/page_text.h"

namespace fp4proof::report {

namespace {

constexpr std::size_t most_listed = 40;
constexpr std::size_t most_steps = 40;

std::uint64_t failed_of(const Json& table) { return count_at(at(table, "tally"), "failed"); }

const Json* worst_table(const Json& document) {
  const Json* worst = nullptr;
  for (const Json& table : at(document, "tables"))
    if (failed_of(table) != 0 && (worst == nullptr || failed_of(table) > failed_of(*worst))) worst = &table;
  return worst;
}

std::uint64_t distance_of(const Json& mismatch) {
  const std::int64_t distance = integer_at(mismatch, "distance").value_or(0);
  return distance < 0 ? 0 - static_cast<std::uint64_t>(distance) : static_cast<std::uint64_t>(distance);
}

/// Places of two fields of equal length that differ, marked.
std::string marked(const std::string& text, const std::string* other) {
  if (other == nullptr || other->size() != text.size()) return text;
  std::string html;
  for (std::size_t i = 0; i < text.size(); ++i) {
    html += text[i] == (*other)[i] ? std::string(1, text[i]) : fmt::format("<u>{}</u>", text[i]);
  }
  return html;
}

std::string fields_of(const NumberView& view, const NumberView* other) {
  if (view.exponent.empty()) return {};
  const auto field = [&](const char* style, const std::string& text, const std::string* against) {
    return text.empty() ? text : fmt::format("<span class=\"{}\">{}</span>", style, marked(text, against));
  };
  const std::string sign = field("s", view.sign, other ? &other->sign : nullptr);
  const std::string exponent = field("e", view.exponent, other ? &other->exponent : nullptr);
  const std::string fraction = field("f", view.fraction, other ? &other->fraction : nullptr);
  return fmt::format("<span class=\"bits\">{}{}{}{}{}{}</span>", sign, sign.empty() ? "" : ".", exponent,
                     fraction.empty() ? "" : ".", fraction, field("m", view.levels, other ? &other->levels : nullptr));
}

/// What an actual number is compared with.
const NumberView* counterpart(const std::vector<NumberView>& views, const NumberView& view) {
  if (!view.label.starts_with("actual")) return nullptr;
  const std::string wanted = "expected" + view.label.substr(6);
  const auto found = std::ranges::find(views, wanted, &NumberView::label);
  return found == views.end() ? nullptr : &*found;
}

std::string numbers_table(const Json& mismatch) {
  const std::vector<NumberView> views = numbers_of(mismatch);
  if (views.empty()) return {};
  std::string html =
      "<div class=\"scroll\"><table><tr><th></th><th>value</th><th>bits</th><th><span class=\"bits\">"
      "<span class=\"s\">sign</span>.<span class=\"e\">exponent</span>.<span "
      "class=\"f\">fraction</span></span></th></tr>\n";
  for (const NumberView& view : views) {
    html += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", view.label, code(view.value),
                        code(view.bits), fields_of(view, counterpart(views, view)));
  }
  return html + "</table></div>";
}

std::string rule_line(const Json& mismatch) {
  const Result<SharedProfile> profile = named_profile(text_at(mismatch, "profile"));
  if (!profile) return {};
  return fmt::format("<p><b>Rule</b> of {}: {}</p>", code((*profile)->name), shown((*profile)->summary));
}

/// The element of the explanation that the mismatch blames, as one more step.
std::string element_step(const Json& explanation, const Json& mismatch) {
  const auto blamed = integer_at(mismatch, "element");
  if (!blamed) return {};
  for (const Json& element : at(explanation, "elements")) {
    if (integer_at(element, "index") != blamed) continue;
    return fmt::format("<li><b>element {}</b> {}, so code {} <span class=\"faint\">({})</span></li>", *blamed,
                       shown(text_at(element, "decision")), count_at(element, "code"),
                       shown(text_at(element, "rule"), 20));
  }
  return {};
}

std::string steps_part(const Json& mismatch) {
  const Json& explanation = at(mismatch, "explanation");
  if (!at(explanation, "steps").is_array()) return {};
  std::string html = "<h4>The steps to the right answer</h4><ol class=\"steps\">";
  std::size_t listed = 0;
  for (const Json& step : at(explanation, "steps")) {
    if (listed++ == most_steps) break;
    html += fmt::format("<li><b>{}</b> {} <span class=\"faint\">({})</span></li>\n", shown(text_at(step, "label"), 60),
                        shown(text_at(step, "text"), 400), shown(text_at(step, "rule"), 20));
  }
  return html + element_step(explanation, mismatch) + "</ol>";
}

std::string expected_and_actual(const std::vector<NumberView>& views, const std::string& suffix) {
  std::string wanted;
  std::string given;
  for (const NumberView& view : views) {
    if (view.label == "expected" + suffix) wanted = view.value;
    if (view.label == "actual" + suffix) given = view.value;
  }
  return fmt::format("<td>{}</td><td>{}</td>", code(wanted, 60), code(given, 60));
}

std::string list_row(const Json& mismatch) {
  const std::vector<NumberView> views = numbers_of(mismatch);
  const bool has_answer = std::ranges::find(views, "actual", &NumberView::label) != views.end();
  return fmt::format("<tr><td class=\"id\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>{}</tr>\n",
                     code(text_at(mismatch, "case_id"), 20),
                     shown(text_at(mismatch, "operation") + " " + text_at(mismatch, "profile"), 60),
                     shown(text_at(mismatch, "class"), 60), shown(cause_of(mismatch), 80),
                     code(text_at(mismatch, "group"), 60), shown(place_of(mismatch), 60),
                     expected_and_actual(views, has_answer ? "" : " scale"));
}

}  // namespace

const Json* worst_mismatch(const Json& document) {
  const Json& mismatches = at(document, "mismatches");
  if (!mismatches.is_array() || mismatches.empty()) return nullptr;
  const Json* table = worst_table(document);
  const std::vector<CauseRow> causes = table == nullptr ? std::vector<CauseRow>() : causes_of(*table);
  const Json* worst = nullptr;
  for (const Json& mismatch : mismatches) {
    if (causes.empty() || !same_table(mismatch, *table)) continue;
    if (at(mismatch, "explanation").is_object()) return &mismatch;
    if (text_at(mismatch, "cause") != causes.front().cause || text_at(mismatch, "kind") != causes.front().kind)
      continue;
    if (worst == nullptr || distance_of(mismatch) > distance_of(*worst)) worst = &mismatch;
  }
  return worst == nullptr ? &mismatches.front() : worst;
}

std::string worst_case_part(const Json& mismatch) {
  std::string html = fmt::format(
      "<section class=\"card\"><div class=\"head\"><h3>{}</h3><span class=\"faint small\">case {}"
      "</span></div>",
      shown(cause_of(mismatch)), code(text_at(mismatch, "case_id"), 40));
  html += fmt::format("<p class=\"faint\">{} \u00b7 {} \u00b7 group {} \u00b7 class {} \u00b7 {}</p>",
                      shown(text_at(mismatch, "operation"), 40), shown(text_at(mismatch, "profile"), 120),
                      code(text_at(mismatch, "group"), 80), code(text_at(mismatch, "class"), 80),
                      shown(place_of(mismatch)));
  html += numbers_table(mismatch) + rule_line(mismatch);
  html += fmt::format("<p><b>Usually</b> {}</p>", shown(text_at(mismatch, "likely")));
  const std::string_view purpose = class_purpose(text_at(mismatch, "class"));
  if (!purpose.empty()) html += fmt::format("<p><b>The class catches</b> {}</p>", shown(purpose));
  return html + steps_part(mismatch) + "</section>\n";
}

std::string mismatch_list(const Json& document) {
  const Json& mismatches = at(document, "mismatches");
  if (!mismatches.is_array() || mismatches.empty()) return {};
  const std::size_t listed = std::min(mismatches.size(), most_listed);
  std::string html = fmt::format(
      "<details class=\"card\"{}><summary>{} of the document</summary><div class=\"scroll\"><table class=\"small\"><tr>"
      "<th>case</th><th>table</th><th>class</th><th>cause</th><th>group</th><th>place</th><th>expected</th><th>actual</"
      "th></tr>\n",
      mismatches.size() <= 10 ? " open" : "",
      listed == mismatches.size() ? fmt::format("Every mismatch ({})", listed)
                                  : fmt::format("The first {} of {} mismatches", listed, grouped(mismatches.size())));
  for (std::size_t i = 0; i < listed; ++i) html += list_row(mismatches[i]);
  return html + "</table></div></details>\n";
}

}  // namespace fp4proof::report
