#include "conformance/runners/run_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "conformance/suite/shared_rules.h"
#include "conformance/verify/compare.h"
#include "formats/spec_profiles.h"

namespace fp4proof::runners {

namespace {

using suite::CaseGroup;
using suite::CaseTable;
using suite::Operation;

/// Profiles that share the cases of an operation.
struct Sharers {
  Operation operation;
  std::vector<SharedProfile> profiles;
};

std::vector<SharedProfile> wanted_profiles(const RunRequest& request) {
  if (!request.profiles.empty()) return request.profiles;
  std::vector<SharedProfile> all;
  for (const Profile& profile : profiles()) all.emplace_back(SharedProfile(), &profile);
  return all;
}

std::vector<Sharers> wanted_tables(const RunRequest& request) {
  std::vector<Sharers> tables;
  const std::vector<SharedProfile> profiles = wanted_profiles(request);
  for (const Operation operation : suite::operations) {
    if (request.operation && *request.operation != operation) continue;
    const std::size_t first = tables.size();
    for (const SharedProfile& profile : profiles) {
      const auto found = std::find_if(
          tables.begin() + static_cast<std::ptrdiff_t>(first), tables.end(),
          [&](const Sharers& sharers) { return suite::same_rule(operation, *sharers.profiles.front(), *profile); });
      if (found == tables.end()) {
        tables.push_back({operation, {profile}});
      } else {
        found->profiles.push_back(profile);
      }
    }
  }
  return tables;
}

class Runner {
 public:
  explicit Runner(const RunRequest& request) : request_(request), subject_(*request.subject) {
    context_.errata = &request.cases->errata();
    context_.classes = &request.cases->classes();
    context_.most_mismatches = request.most_mismatches;
    context_.rules = request.rules;
    context_.observer = request.observer;
  }

  Result<RunReport> run() {
    const SubjectReply opened = subject_.open();
    if (opened.kind != SubjectReply::Kind::ok) {
      report_.load_problem = opened.why;
      return std::move(report_);
    }
    report_.backend = subject_.description();
    const std::vector<Sharers> wanted = wanted_tables(request_);
    for (const Sharers& sharers : wanted) {
      if (const Result<void> done = run_sharers(sharers); !done) return done.error();
      if (request_.progress) request_.progress(wanted.size());
    }
    const SessionEnd end = subject_.close();
    report_.close_problem = end.problem;
    report_.survivors = end.survivors;
    drop_profiles_without_offers();
    report_.mismatches = std::move(found_.mismatches);
    return std::move(report_);
  }

 private:
  Result<void> run_sharers(const Sharers& sharers) {
    Result<std::optional<CaseTable>> table = request_.cases->questions(sharers.operation, sharers.profiles.front());
    if (!table) return table.error();
    if (!*table) return {};
    bool is_answered = false;
    for (const SharedProfile& profile : sharers.profiles) {
      TableOutcome outcome;
      outcome.report.operation = sharers.operation;
      outcome.report.profile = profile;
      if (const Result<void> done = run_table(**table, is_answered, outcome); !done) return done;
      if (!outcome.report.classes.empty()) report_.tables.push_back(std::move(outcome));
    }
    return {};
  }

  /// Whether the group is asked under the profile: profiles of tiles share the meaning of codes with profiles of rows,
  /// but cannot hold a single row.
  bool wants(Operation operation, const Profile& profile, const CaseGroup& group) const {
    const bool other_order = !request_.accumulator.empty() && !group.spec.accumulator.empty() &&
                             group.spec.accumulator != request_.accumulator;
    return !other_order && suite::group_tensors(operation, profile, group.spec).ok();
  }

  Result<void> run_table(CaseTable& table, bool& is_answered, TableOutcome& outcome) {
    std::size_t faults = 0;
    for (std::size_t g = 0; g < table.groups.size(); ++g) {
      const CaseGroup& group = table.groups[g];
      if (!wants(table.operation, *outcome.report.profile, group)) continue;
      report_.gave_up = report_.gave_up || report_.faults.size() >= most_faults;
      if (faults >= most_faults_of_table || report_.gave_up) {
        count_missing(group, outcome);
        continue;
      }
      const SubjectReply support = subject_.supports(table.operation, *outcome.report.profile, group);
      if (support.kind == SubjectReply::Kind::unsupported) {
        outcome.unsupported_groups.push_back(group_name(group.spec));
        for_each_case(group, outcome, [](verify::Tally& tally) { ++tally.skipped; });
        continue;
      }
      ++outcome.offered_groups;
      std::string fault = support.why;
      if (support.kind == SubjectReply::Kind::ok) {
        if (!std::exchange(is_answered, true)) {
          if (const Result<void> answered = request_.cases->answer(table); !answered) return answered;
        }
        const Result<std::string> done = run_and_compare(table, group, outcome);
        if (!done) return done.error();
        fault = *done;
      }
      if (fault.empty()) continue;
      ++faults;
      count_fault(group, outcome, fault);
    }
    outcome.is_optional_rest = suite::is_product(table.operation) && outcome.offered_groups != 0;
    return {};
  }

  /// Empty, or the plug-in's fault.
  Result<std::string> run_and_compare(const CaseTable& table, const CaseGroup& group, TableOutcome& outcome) {
    const Result<GroupAnswers> answers = subject_.answer(table.operation, *outcome.report.profile, group);
    if (!answers) return answers.error();
    if (!answers->fault.empty()) return answers->fault;
    std::vector<Bytes> tensors(answers->outputs.begin(), answers->outputs.end());
    verify::ActualGroup actual = verify::ActualGroup::in_order(std::move(tensors), group.size());
    for (std::size_t i = 0; i < group.size(); ++i)
      if (answers->differs[i]) actual.rows[i].reset();
    const std::size_t known = found_.mismatches.size();
    compare_group(context_, table, group, actual, outcome.report, found_);
    for (std::size_t m = known; m < found_.mismatches.size(); ++m)
      found_.mismatches[m].profile = outcome.report.profile;
    for (std::size_t i = 0; i < group.size(); ++i)
      if (answers->differs[i] && !is_withdrawn(group, i)) count_nondeterministic(group, i, outcome);
    return std::string();
  }

  bool is_withdrawn(const CaseGroup& group, std::size_t index) const {
    return request_.cases->errata().contains(group.ids[index]);
  }

  std::string class_of(const CaseGroup& group, std::size_t index) const {
    return request_.cases->classes()[group.classes[index]].name;
  }

  template <class Count>
  void for_each_case(const CaseGroup& group, TableOutcome& outcome, Count count) const {
    for (std::size_t i = 0; i < group.size(); ++i) count(outcome.report.classes[class_of(group, i)]);
  }

  void count_missing(const CaseGroup& group, TableOutcome& outcome) const {
    ++outcome.offered_groups;
    outcome.report.missing += group.size();
    for_each_case(group, outcome, [](verify::Tally& tally) { ++tally.skipped; });
  }

  void count_fault(const CaseGroup& group, TableOutcome& outcome, const std::string& what) {
    for_each_case(group, outcome, [](verify::Tally& tally) { ++tally.failed; });
    report_.faults.push_back({outcome.report.operation, std::string(outcome.report.profile->name),
                              group_name(group.spec), group.size(), suite::id_text(group.ids.front()), what});
  }

  /// The comparison took the case for a missing one.
  void count_nondeterministic(const CaseGroup& group, std::size_t index, TableOutcome& outcome) {
    verify::Tally& tally = outcome.report.classes[class_of(group, index)];
    --outcome.report.missing;
    --tally.skipped;
    ++tally.failed;
    ++outcome.nondeterministic;
    ++outcome.report.causes[verify::Cause::nondeterministic]["two-runs"].cases;
    if (found_.mismatches.size() >= context_.most_mismatches) return;
    verify::Finding finding;
    finding.cause = verify::Cause::nondeterministic;
    finding.kind = "two-runs";
    found_.mismatches.push_back({outcome.report.operation, outcome.report.profile, group_name(group.spec),
                                 class_of(group, index), group.ids[index], index, finding});
  }

  void drop_profiles_without_offers() {
    if (!request_.profiles.empty()) return;
    std::vector<std::string_view> offered;
    for (const TableOutcome& table : report_.tables)
      if (table.offered_groups != 0) offered.push_back(table.report.profile->name);
    std::erase_if(report_.tables, [&](const TableOutcome& table) {
      return std::ranges::find(offered, table.report.profile->name) == offered.end();
    });
  }

  const RunRequest& request_;
  Subject& subject_;
  verify::CompareContext context_;
  verify::VerifyReport found_;
  RunReport report_;
};

}  // namespace

verify::VerifyReport RunReport::verify_report() const {
  verify::VerifyReport report;
  for (const TableOutcome& table : tables) report.tables.push_back(table.report);
  report.mismatches = mismatches;
  return report;
}

Result<RunReport> run_backend(const RunRequest& request) { return Runner(request).run(); }

}  // namespace fp4proof::runners
