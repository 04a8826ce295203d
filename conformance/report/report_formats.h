#pragma once
// The forms in which a report document can be written.

#include <array>
#include <string>
#include <string_view>

#include "conformance/report/document.h"

namespace fp4proof::report {

struct ReportFormat {
  std::string_view name;     ///< what stands in front of "=" in `--report FORMAT=FILE`
  std::string_view summary;  ///< for help texts
  std::string (*write)(const Json& document);
};

/// json, junit, sarif, html.
const std::array<ReportFormat, 4>& report_formats();

/// The format of that name, or nullptr.
const ReportFormat* find_report_format(std::string_view name);

}  // namespace fp4proof::report
