#pragma once
// From what a run found to an exit code and to words.

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "conformance/cli/exit_code.h"
#include "conformance/runners/run_backend.h"

namespace fp4proof::cli {

/// What a plug-in must offer.
enum class Requirement {
  offered,   ///< nothing: what it offers is judged
  standard,  ///< quantize and dequantize, or the one operation that is asked for, wholly
  full,      ///< every operation and group; of products one accumulator
};

struct Verdict {
  ExitCode code = ExitCode::conformant;
  std::vector<std::string> reasons;  ///< one for each cause of another code than 0 and 1
};

Verdict verdict_of(const runners::RunReport& report, Requirement requirement, std::optional<suite::Operation> asked);

/// For people: plug-in, tables, first mismatches, what is unsupported; without the last line of totals.
std::string to_text(const runners::RunReport& report);

/// For programs, docs/plug-ins.md gives the fields.
nlohmann::json to_json(const runners::RunReport& report);

}  // namespace fp4proof::cli
