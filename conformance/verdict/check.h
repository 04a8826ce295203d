#pragma once
// A subject, cases, and what is demanded: the verdict and the report on it. `run`, `verify` and the Python package all
// come here.

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/profiles/profile_json.h"
#include "conformance/runners/case_source.h"
#include "conformance/runners/subject.h"
#include "conformance/suite/generate_set.h"
#include "conformance/suite/operation.h"
#include "conformance/verdict/exit_code.h"
#include "conformance/verdict/requirement.h"
#include "conformance/verdict/statistical.h"
#include "conformance/verdict/waivers.h"
#include "conformance/verify/classify.h"
#include "formats/result.h"

namespace fp4proof::verdict {

/// The value of `format` in a report.
inline constexpr std::string_view report_format = "fp4proof-report/1";

/// A file that a subject is made of.
struct FileFact {
  std::string path;
  std::string sha256;  ///< 64 hexadecimal digits
};

/// What a subject cannot say about itself.
struct SubjectFacts {
  std::string kind;                  ///< plugin, process, files, python, reference
  std::string path;                  ///< library, program, file with answers; empty where there is none
  std::string sha256;                ///< of that file, 64 hexadecimal digits; empty where there is none
  std::vector<FileFact> files = {};  ///< programs: the files that their arguments name
};

struct CheckRequest {
  runners::Subject* subject = nullptr;  ///< not opened yet; check() closes it
  SubjectFacts facts;
  const runners::CaseSource* cases = nullptr;

  std::string command = "check";             ///< run, verify, check
  std::vector<std::string> invocation = {};  ///< the arguments; those that only say where reports go are left out

  std::vector<SharedProfile> profiles = {};        ///< asked for by name; if empty, every named profile
  bool kept_profiles_only = false;                 ///< if empty: each table under the profile of its file alone
  std::optional<suite::Operation> operation = {};  ///< only this one
  std::string accumulator = {};                    ///< products: only this one
  Requirement requirement = Requirement::offered;  ///< what must be offered
  const suite::SetPlan* level = nullptr;           ///< the least set that will do
  std::size_t most_mismatches = 10;                ///< how many to list; all are counted
  verify::CompareRules rules = {};
  const Waivers* waivers = nullptr;                 ///< known failures
  bool strict = false;                              ///< waivers that are expired or unused fail
  suite::Shard shard = {};                          ///< which calls
  bool diagnose = true;                             ///< whether to look for what explains the mismatches
  std::optional<StatisticalPlan> statistical = {};  ///< how to judge profiles that round stochastically

  int threads = 0;                                       ///< for expected answers; 0: one a processor
  std::function<void(std::size_t total)> progress = {};  ///< called after each of `total` tables
};

struct CheckOutcome {
  ExitCode code = ExitCode::conformant;
  /// docs/reports.md has its form. The same for the same request, subject and machine.
  nlohmann::json document = nlohmann::json::object();
};

/// Asks the subject every case that is wanted, twice, compares to the bit, judges, and writes the report.
/// Errors are ours, the set's or the request's (ErrorKind); whatever the subject does wrong is in the report.
Result<CheckOutcome> check(const CheckRequest& request);

/// A report for people, made from the document alone; without the last line of totals.
std::string report_text(const nlohmann::json& document);

/// The last line: "N passed, N failed, N skipped".
std::string totals_line(const nlohmann::json& document);

}  // namespace fp4proof::verdict
