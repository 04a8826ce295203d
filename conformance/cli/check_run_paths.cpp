#include "conformance/cli/check_run_paths.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "conformance/cli/same_file.h"
#include "conformance/suite/errata.h"
#include "conformance/vectors/folder_entries.h"
#include "conformance/vectors/is_absent.h"
#include "conformance/vectors/os_error.h"

namespace fp4proof::cli {

namespace {

namespace fs = std::filesystem;

bool is_same(const fs::path& a, const fs::path& b) {
  std::error_code ignored;
  return fs::equivalent(a, b, ignored);
}

/// Links resolved as far as there are files.
fs::path real_path(const fs::path& path) {
  std::error_code failure;
  const fs::path real = fs::weakly_canonical(fs::absolute(path), failure);
  return failure ? path : real;
}

Result<std::vector<std::string>> outputs_of(const CheckOptions& options) {
  std::vector<std::string> outputs;
  if (!options.json.empty() && !options.json_is_output()) outputs.push_back(options.json);
  for (const std::string& option : options.reports) {
    const Result<ReportFile> file = report_file_of(option);
    if (!file) return file.error();
    outputs.push_back(file->path);
  }
  return outputs;
}

/// Whether the output lies in the folder, or is one of its files under another name.
Result<void> refuse_in_folder(const std::string& output, const std::string& folder, std::string_view what) {
  const Error refused{ErrorKind::usage,
                      fmt::format("the report {} lies in the folder of {}; write it elsewhere", quote(output), what)};
  if (is_same(fs::absolute(output).parent_path(), folder) || is_same(real_path(output).parent_path(), folder))
    return refused;
  if (is_absent(folder)) return {};
  const auto entries = folder_entries(folder);
  if (!entries) return entries.error();
  for (const fs::directory_entry& entry : *entries)
    if (is_same(output, entry.path())) return refused;
  return {};
}

Result<void> check_output(const CheckOptions& options, const CheckInputs& inputs, const std::string& output) {
  for (const std::string& input : inputs.files)
    if (const Result<void> apart = refuse_same_file(input, output); !apart) return apart;
  if (!inputs.set.empty())
    if (const Result<void> apart = refuse_in_folder(output, inputs.set, "the set"); !apart) return apart;
  if (!options.resume.empty()) return refuse_in_folder(output, options.resume, "--resume");
  return {};
}

}  // namespace

Result<ReportFile> report_file_of(const std::string& option) {
  const std::size_t equals = option.find('=');
  const std::string name = option.substr(0, equals);
  const report::ReportFormat* format = report::find_report_format(name);
  if (equals == std::string::npos || equals + 1 == option.size() || (format == nullptr && name != "text")) {
    return Error{ErrorKind::usage,
                 fmt::format("--report {}: must be FORMAT=FILE with FORMAT one of json, junit, sarif, "
                             "html, text",
                             quote(option))};
  }
  const std::string path = option.substr(equals + 1);
  if (path == "-") {
    return Error{ErrorKind::usage,
                 fmt::format("--report {}: goes to a file; --json - prints the report, and ./- is a file of that name",
                             quote(option))};
  }
  return ReportFile{format, path};
}

Result<void> check_report_paths(const CheckOptions& options, CheckInputs inputs) {
  for (const std::string& file : {options.waivers, options.errata})
    if (!file.empty()) inputs.files.push_back(file);
  inputs.files.insert(inputs.files.end(), options.profiles.begin(), options.profiles.end());
  if (!inputs.set.empty())
    if (const std::optional<fs::path> errata = suite::errata_path_of_set(inputs.set)) inputs.files.push_back(*errata);
  if (!inputs.set.empty() && !options.resume.empty() && is_same(inputs.set, options.resume)) {
    return Error{ErrorKind::usage,
                 fmt::format("--resume {} is the folder of the set; name another", quote(options.resume))};
  }
  const Result<std::vector<std::string>> outputs = outputs_of(options);
  if (!outputs) return outputs.error();
  for (std::size_t i = 0; i < outputs->size(); ++i) {
    const std::string& output = (*outputs)[i];
    if (const Result<void> apart = check_output(options, inputs, output); !apart) return apart;
    for (std::size_t k = 0; k < i; ++k) {
      const std::string& other = (*outputs)[k];
      if (is_same(output, other) || real_path(output) == real_path(other))
        return Error{ErrorKind::usage, fmt::format("two reports would be written to {}", quote(output))};
    }
  }
  return {};
}

}  // namespace fp4proof::cli
