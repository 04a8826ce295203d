#include "conformance/report/report_formats.h"

#include <algorithm>

#include "conformance/report/junit.h"
#include "conformance/report/sarif.h"
#include "conformance/report/verdict_page.h"

namespace fp4proof::report {

namespace {

std::string json_text(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

const std::array<ReportFormat, 4>& report_formats() {
  static constexpr std::array<ReportFormat, 4> formats = {{
      {"json", "the document itself", json_text},
      {"junit", "JUnit XML, one test case for each class of cases", junit},
      {"sarif", "SARIF 2.1.0 for code-scanning pages", sarif},
      {"html", "one page for people", verdict_page},
  }};
  return formats;
}

const ReportFormat* find_report_format(std::string_view name) {
  const auto found = std::ranges::find(report_formats(), name, &ReportFormat::name);
  return found == report_formats().end() ? nullptr : &*found;
}

}  // namespace fp4proof::report
