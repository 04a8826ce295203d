#pragma once
// The figures that `fp4proof reproduce` knows, one file each.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/cli/exit_code.h"
#include "conformance/cli/session.h"
#include "formats/result.h"

namespace fp4proof::cli {

struct ReproduceOptions {
  std::string figure;
  std::string svg;
  std::string markdown;
  std::vector<std::string> runs;
  std::optional<std::uint64_t> seed;  ///< none: 1
  bool json = false;
};

Result<ExitCode> reproduce_hif4_figure3(const ReproduceOptions& options, Session& session);
Result<ExitCode> reproduce_corrections(const ReproduceOptions& options, Session& session);
Result<ExitCode> reproduce_training(const ReproduceOptions& options, Session& session);

}  // namespace fp4proof::cli
