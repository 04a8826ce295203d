#include "conformance/report/decomposition_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "conformance/report/page_text.h"

namespace fp4proof::report {

namespace {

constexpr std::array<const char*, 3> terms = {"deadzone", "grid", "scale"};

double number_at(const Json& split, const char* name) {
  const Json& value = at(split, name);
  return value.is_number() ? std::max(0.0, value.get<double>()) : 0.0;
}

/// How long a bar is: the error may lie behind the end of its terms.
double length_of(const Json& split) {
  double sum = 0;
  for (const char* term : terms) sum += number_at(split, term);
  return std::max(sum, number_at(split, "error"));
}

std::string number_cell(double sum, double cases) {
  return fmt::format("<td class=\"n\">{:.3g} %</td>", 100 * sum / cases);
}

std::string split_row(const char* label, const Json& split, double longest, double cases) {
  std::string html = fmt::format("<tr><td>{}</td><td class=\"wide\"><div class=\"split\">", label);
  std::string numbers;
  for (const char* term : terms) {
    const double number = number_at(split, term);
    html +=
        fmt::format("<i class=\"{}\" style=\"width:{:.2f}%\" title=\"{}\"></i>", term, 100 * number / longest, term);
    numbers += number_cell(number, cases);
  }
  const double error = number_at(split, "error");
  html += fmt::format("<b style=\"left:{:.2f}%\" title=\"error\"></b></div></td>", 100 * error / longest);
  return html + numbers + number_cell(error, cases) + "</tr>\n";
}

std::string left_out_text(std::uint64_t left_out) {
  if (left_out == 0) return {};
  return fmt::format(" Left out: {} with NaN, infinities, nothing but zeros, or an error above 4 |x|.",
                     grouped(left_out, "case"));
}

std::string bars(const Json& expected, const Json& actual, double longest, double cases) {
  return "<div class=\"scroll\"><table style=\"width:100%\"><tr><th></th><th class=\"key\"><i class=\"deadzone\"></i>"
         "deadzone<i class=\"grid\"></i>grid<i class=\"scale\"></i>scale<i class=\"error\"></i>error</th>"
         "<th class=\"n\">deadzone</th><th class=\"n\">grid</th><th class=\"n\">scale</th><th class=\"n\">error</th>"
         "</tr>\n" +
         split_row("expected", expected, longest, cases) + split_row("actual", actual, longest, cases) +
         "</table></div>";
}

}  // namespace

std::string decomposition_part(const Json& table) {
  const Json& decomposition = at(table, "decomposition");
  const std::uint64_t cases = count_at(decomposition, "cases");
  const std::uint64_t left_out = count_at(decomposition, "left_out");
  if (cases + left_out == 0) return {};
  const Json& expected = at(decomposition, "expected");
  const Json& actual = at(decomposition, "actual");
  const double longest = std::max(length_of(expected), length_of(actual));
  std::string html = "<h4>What the error consists of</h4>";
  if (cases != 0 && longest > 0) html += bars(expected, actual, longest, static_cast<double>(cases));
  return html + fmt::format(
                    "<p class=\"faint small\">Squared errors relative to |x|\u00b2, mean of {}. Deadzone and grid are "
                    "what an ideal scale leaves; whatever an answer does otherwise, in scales or elements, shows in "
                    "scale. Terms may cancel, so their sum may pass the error.{}</p>",
                    grouped(cases, "failing case"), left_out_text(left_out));
}

}  // namespace fp4proof::report
