#include "conformance/cli/same_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "conformance/vectors/os_error.h"

namespace fp4proof::cli {

Result<void> refuse_same_file(const std::string& input, const std::string& output) {
  std::error_code ignored;
  if (!std::filesystem::equivalent(input, output, ignored)) return {};
  return Error{ErrorKind::usage, fmt::format("the output {} is the input; write to another file", quote(output))};
}

}  // namespace fp4proof::cli
