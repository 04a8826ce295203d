// Usage: report_writer FORMAT < DOCUMENT: a report document in another format, for tests of damaged and huge documents.

#include <iostream>
#include <nlohmann/json.hpp>

#include "conformance/report/report_formats.h"

int main(int argc, char** argv) {
  const fp4proof::report::ReportFormat* format = argc == 2 ? fp4proof::report::find_report_format(argv[1]) : nullptr;
  const nlohmann::json document = nlohmann::json::parse(std::cin, nullptr, false);
  if (format == nullptr || document.is_discarded()) return 2;
  std::cout << format->write(document);
  return std::cout.good() ? 0 : 1;
}
