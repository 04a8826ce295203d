#pragma once
// Where the reports of a check go, and what they must not replace.

#include <string>
#include <vector>

#include "conformance/cli/check_options.h"
#include "conformance/report/report_formats.h"
#include "formats/result.h"

namespace fp4proof::cli {

/// One --report.
struct ReportFile {
  const report::ReportFormat* format = nullptr;  ///< nullptr: the text of the terminal
  std::string path;
};

/// Takes FORMAT=FILE apart; `usage` error for anything else.
Result<ReportFile> report_file_of(const std::string& option);

/// What a check reads.
struct CheckInputs {
  std::vector<std::string> files;
  std::string set;  ///< folder with a set; empty where there is none
};

/// `usage` error where a report would replace an input (also one that `options` name), a file of the set or of the
/// folder of --resume, or another report, under whatever name, link or hard link; or where one has no file to go to.
Result<void> check_report_paths(const CheckOptions& options, CheckInputs inputs);

}  // namespace fp4proof::cli
