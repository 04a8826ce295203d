#pragma once
// Verifying a subject: every wanted group of cases is asked twice, and the answers are compared to the bit.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/profiles/profile_json.h"
#include "conformance/runners/case_source.h"
#include "conformance/runners/subject.h"
#include "conformance/suite/generate_set.h"
#include "conformance/verify/compare.h"
#include "conformance/verify/report.h"
#include "formats/result.h"

namespace fp4proof::runners {

struct RunRequest {
  Subject* subject = nullptr;  ///< not opened yet; closed at the end
  const CaseSource* cases = nullptr;
  std::vector<SharedProfile> profiles;        ///< asked for by name; every named profile if empty
  bool kept_profiles_only = false;            ///< if empty: the profiles under which the source keeps tables, no others
  std::optional<suite::Operation> operation;  ///< only this one
  std::string accumulator;                    ///< products: only this one
  std::size_t most_mismatches = 10;           ///< how many to keep
  verify::CompareRules rules;
  verify::CaseObserver observer;                                 ///< sees every case that is compared and not waived
  std::function<bool(const verify::ComparedCase&)> waives = {};  ///< whether a wrong answer is let pass
  /// Whether the subject's answers under a table are judged elsewhere: it is asked what it offers, and no more.
  std::function<bool(suite::Operation, const Profile&)> leaves_out = {};
  suite::Shard shard = {};                               ///< only every shard.count-th call, counted over the whole run
  int threads = 1;                                       ///< for expected answers
  std::function<void(std::size_t total)> progress = {};  ///< called after each of `total` tables
};

/// A fault of the plug-in that is no wrong answer.
struct PluginFault {
  suite::Operation operation = suite::Operation::quantize;
  std::string profile;
  std::string group;        ///< empty where no group was at hand
  std::uint64_t cases = 0;  ///< how many cases the call held
  std::string first_case;   ///< id of the first of them
  std::string what;         ///< "run() did not answer within 60 s"
};

/// One operation under one profile.
struct TableOutcome {
  verify::TableReport report;
  std::size_t offered_groups = 0;
  std::vector<std::string> unsupported_groups;  ///< their cases are counted as skipped
  bool is_optional_rest = false;                ///< product: what is unsupported is other accumulators alone
  std::uint64_t nondeterministic = 0;
  bool left_out = false;  ///< RunRequest::leaves_out took it; its cases are not counted
};

/// Cases that were wanted and that the source does not have.
struct AbsentTable {
  suite::Operation operation = suite::Operation::quantize;
  std::string profile;
};

struct RunReport {
  BackendDescription backend;
  std::string load_problem;  ///< the plug-in could not be loaded; nothing else holds then
  std::vector<TableOutcome> tables;
  std::vector<AbsentTable> absent;           ///< of profiles asked for by name, or with offers elsewhere
  std::vector<verify::Mismatch> mismatches;  ///< the first ones by table and place
  std::vector<PluginFault> faults;
  std::string close_problem;  ///< close() failed, or the process ended otherwise than in order
  std::size_t survivors = 0;  ///< processes that the plug-in left behind; they were ended
  bool gave_up = false;       ///< too many faults; the rest was not asked

  verify::VerifyReport verify_report() const;
};

/// After so many faults a table, or the whole run, is given up.
inline constexpr std::size_t most_faults_of_table = 2;
inline constexpr std::size_t most_faults = 10;

/// Asks and compares. A profile of which nothing is offered is left out of the report unless it was asked for by name.
/// A group is asked in calls of at most most_call_bytes, and every shard asks whether every group is offered, so shards
/// differ in what they compare alone. Memory: two tables of questions, and the expected outputs of one.
/// Errors are ours or the set's; what the plug-in does wrong is in the report.
Result<RunReport> run_backend(const RunRequest& request);

}  // namespace fp4proof::runners
