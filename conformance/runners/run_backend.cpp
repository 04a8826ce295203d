#include "conformance/runners/run_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <utility>

#include "conformance/runners/calls.h"
#include "conformance/runners/expected_answers.h"
#include "conformance/runners/fault_search.h"
#include "conformance/suite/case_class.h"
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

using Questions = Result<std::optional<CaseTable>>;

std::vector<SharedProfile> wanted_profiles(const RunRequest& request, Operation operation) {
  if (!request.profiles.empty()) return request.profiles;
  if (request.kept_profiles_only) return request.cases->kept_profiles(operation);
  std::vector<SharedProfile> all;
  for (const Profile& profile : profiles()) all.emplace_back(SharedProfile(), &profile);
  return all;
}

std::vector<Sharers> wanted_tables(const RunRequest& request) {
  std::vector<Sharers> tables;
  for (const Operation operation : suite::operations) {
    if (request.operation && *request.operation != operation) continue;
    const std::size_t first = tables.size();
    for (const SharedProfile& profile : wanted_profiles(request, operation)) {
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

/// One table, cut into calls, of which this shard takes some.
struct CutTable {
  CaseTable head;  ///< without groups
  std::vector<GroupCalls> groups;
  std::vector<Call*> taken;

  /// Calls are counted whether they are wanted or not, so that a narrower request cuts shards in the same places.
  template <class IsWanted>
  CutTable(CaseTable table, const suite::Shard& shard, std::uint64_t& calls_before, IsWanted is_wanted)
      : groups(cut_into_calls(table)) {
    head = std::move(table);
    head.groups.clear();
    for (GroupCalls& group : groups) {
      std::erase_if(group.calls, [&](const Call&) { return calls_before++ % shard.count != shard.index - 1; });
      if (!is_wanted(group.head)) group.calls.clear();
      for (Call& call : group.calls) taken.push_back(&call);
    }
  }
};

class Runner {
 public:
  explicit Runner(const RunRequest& request) : request_(request), subject_(*request.subject) {
    context_.errata = &request.cases->errata();
    context_.classes = &request.cases->classes();
    context_.most_mismatches = request.most_mismatches;
    context_.rules = request.rules;
    context_.observer = request.observer;
    context_.waives = request.waives;
  }

  Result<RunReport> run() {
    const SubjectReply opened = subject_.open();
    if (opened.kind != SubjectReply::Kind::ok) {
      report_.load_problem = opened.why;
      return std::move(report_);
    }
    report_.backend = subject_.description();
    if (const Result<void> done = run_tables(wanted_tables(request_)); !done) {
      subject_.close();
      return done.error();
    }
    const SessionEnd end = subject_.close();
    report_.close_problem = end.problem;
    report_.survivors = end.survivors;
    drop_profiles_without_offers();
    return std::move(report_);
  }

 private:
  /// While a table is asked, the questions of the next one are made.
  Result<void> run_tables(const std::vector<Sharers>& wanted) {
    const auto ask_later = [&](std::size_t index) {
      return std::async(std::launch::async, [this, &wanted, index]() -> Questions {
        if (index >= wanted.size()) return std::optional<CaseTable>();
        return request_.cases->questions(wanted[index].operation, wanted[index].profiles.front());
      });
    };
    std::future<Questions> next = ask_later(0);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      Questions table = next.get();
      if (!table) return table.error();
      next = ask_later(i + 1);
      if (!*table) {
        note_absent(wanted[i]);
      } else if (const Result<void> done = run_sharers(wanted[i], std::move(**table)); !done) {
        return done;
      }
      if (request_.progress) request_.progress(wanted.size());
    }
    return {};
  }

  void note_absent(const Sharers& sharers) {
    for (const SharedProfile& profile : sharers.profiles) {
      const bool is_asked = suite::is_asked_of(sharers.operation, suite::representative(sharers.operation, *profile));
      if (is_asked) report_.absent.push_back({sharers.operation, std::string(profile->name)});
    }
  }

  Result<void> run_sharers(const Sharers& sharers, CaseTable questions) {
    const CutTable table(std::move(questions), request_.shard, calls_, [&](const CaseGroup& group) {
      return std::ranges::any_of(
          sharers.profiles, [&](const SharedProfile& profile) { return wants(sharers.operation, *profile, group); });
    });
    ExpectedAnswers expected(*request_.cases, table.head.operation, table.head.profile, table.taken, request_.threads);
    for (const SharedProfile& profile : sharers.profiles) {
      TableOutcome outcome;
      outcome.report.operation = sharers.operation;
      outcome.report.profile = profile;
      outcome.left_out = request_.leaves_out && request_.leaves_out(sharers.operation, *profile);
      if (const Result<void> done = run_table(table, expected, outcome); !done) return done;
      if (outcome.offered_groups != 0 || !outcome.unsupported_groups.empty())
        report_.tables.push_back(std::move(outcome));
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

  Result<void> run_table(const CutTable& table, ExpectedAnswers& expected, TableOutcome& outcome) {
    std::size_t call_index = 0;
    faults_of_table_ = 0;
    for (const GroupCalls& group : table.groups) {
      const std::size_t first_call = std::exchange(call_index, call_index + group.calls.size());
      if (!wants(table.head.operation, *outcome.report.profile, group.head)) continue;
      if (const Result<void> done = run_group(table.head, group, expected, first_call, outcome); !done) return done;
    }
    outcome.is_optional_rest = suite::is_product(table.head.operation) && outcome.offered_groups != 0;
    return {};
  }

  /// Whether nothing more is asked after too many faults.
  bool is_given_up() {
    report_.gave_up = report_.gave_up || report_.faults.size() >= most_faults;
    return faults_of_table_ >= most_faults_of_table || report_.gave_up;
  }

  Result<void> run_group(const CaseTable& head, const GroupCalls& group, ExpectedAnswers& expected,
                         std::size_t first_call, TableOutcome& outcome) {
    SubjectReply support{SubjectReply::Kind::ok, {}};
    if (!is_given_up()) support = subject_.supports(head.operation, *outcome.report.profile, group.head);
    const bool is_offered = support.kind != SubjectReply::Kind::unsupported;
    if (is_offered) {
      ++outcome.offered_groups;
    } else {
      outcome.unsupported_groups.push_back(group_name(group.head.spec));
    }
    if (outcome.left_out) return {};
    if (!is_offered) {
      for (const Call& call : group.calls)
        for_each_case(call.group, outcome, [](verify::Tally& tally) { ++tally.skipped; });
      return {};
    }
    if (support.kind == SubjectReply::Kind::ok) return run_calls(head, group, expected, first_call, outcome);
    count_fault(group, outcome, support.why);
    return {};
  }

  Result<void> run_calls(const CaseTable& head, const GroupCalls& group, ExpectedAnswers& expected,
                         std::size_t first_call, TableOutcome& outcome) {
    for (std::size_t i = 0; i < group.calls.size(); ++i) {
      const Call& call = group.calls[i];
      if (is_given_up()) {
        count_missing(call.group, outcome);
        continue;
      }
      const Result<std::string> fault = run_and_compare(head, call, expected, first_call + i, outcome);
      if (!fault) return fault.error();
      if (!fault->empty()) count_fault(call.group, outcome, *fault);
    }
    return {};
  }

  /// Empty, or the subject's fault.
  Result<std::string> run_and_compare(const CaseTable& head, const Call& call, ExpectedAnswers& expected,
                                      std::size_t index, TableOutcome& outcome) {
    const Result<void> answered = expected.wait(index);
    if (!answered) return answered.error();
    const CaseGroup& group = call.group;
    Result<GroupAnswers> answers = subject_.answer(head.operation, *outcome.report.profile, group);
    if (!answers) return answers.error();
    if (!answers->fault.empty()) {
      return with_case_at_fault(answers->fault, subject_, head.operation, *outcome.report.profile, group);
    }
    note_missing_tensors(std::move(answers->missing_tensors), outcome);
    std::vector<Bytes> tensors(answers->outputs.begin(), answers->outputs.end());
    verify::ActualGroup actual = verify::ActualGroup::in_order(std::move(tensors), group.size());
    for (std::size_t i = 0; i < group.size(); ++i)
      if (answers->differs[i] || (!answers->missing.empty() && answers->missing[i])) actual.rows[i].reset();
    verify::VerifyReport found;
    compare_group(context_, head, group, actual, outcome.report, found);
    for (std::size_t i = 0; i < group.size(); ++i)
      if (answers->differs[i] && !is_withdrawn(group, i)) count_nondeterministic(group, i, outcome, found);
    keep_first(std::move(found.mismatches), call, outcome);
    return std::string();
  }

  static void note_missing_tensors(std::vector<std::string> names, TableOutcome& outcome) {
    std::vector<std::string>& known = outcome.report.missing_tensors;
    for (std::string& name : names)
      if (std::ranges::find(known, name) == known.end()) known.push_back(std::move(name));
  }

  /// Adds the mismatches of a call, by place, as long as there is room.
  void keep_first(std::vector<verify::Mismatch> found, const Call& call, const TableOutcome& outcome) {
    std::ranges::stable_sort(found, {}, &verify::Mismatch::case_index);
    for (verify::Mismatch& mismatch : found) {
      if (report_.mismatches.size() >= context_.most_mismatches) return;
      mismatch.profile = outcome.report.profile;
      mismatch.place = call.place + mismatch.case_index;
      mismatch.case_index += call.group.first;
      report_.mismatches.push_back(std::move(mismatch));
    }
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
    outcome.report.missing += group.size();
    for_each_case(group, outcome, [](verify::Tally& tally) { ++tally.skipped; });
  }

  void count_fault(const CaseGroup& group, TableOutcome& outcome, const std::string& what) {
    ++faults_of_table_;
    for_each_case(group, outcome, [](verify::Tally& tally) { ++tally.failed; });
    report_.faults.push_back({outcome.report.operation, std::string(outcome.report.profile->name),
                              group_name(group.spec), group.size(), suite::id_text(group.ids.front()), what});
  }

  /// A fault before any call of the group.
  void count_fault(const GroupCalls& group, TableOutcome& outcome, const std::string& what) {
    ++faults_of_table_;
    std::uint64_t cases = 0;
    for (const Call& call : group.calls) {
      for_each_case(call.group, outcome, [](verify::Tally& tally) { ++tally.failed; });
      cases += call.group.size();
    }
    report_.faults.push_back({outcome.report.operation, std::string(outcome.report.profile->name),
                              group_name(group.head.spec), cases, suite::id_text(group.head.ids.front()), what});
  }

  /// The comparison took the case for a missing one.
  void count_nondeterministic(const CaseGroup& group, std::size_t index, TableOutcome& outcome,
                              verify::VerifyReport& found) const {
    verify::Tally& tally = outcome.report.classes[class_of(group, index)];
    --outcome.report.missing;
    --tally.skipped;
    ++tally.failed;
    ++outcome.nondeterministic;
    ++outcome.report.causes[verify::Cause::nondeterministic]["two-runs"].cases;
    verify::Finding finding;
    finding.cause = verify::Cause::nondeterministic;
    finding.kind = "two-runs";
    found.mismatches.push_back({outcome.report.operation, outcome.report.profile, group_name(group.spec),
                                class_of(group, index), group.ids[index], index, finding});
  }

  void drop_profiles_without_offers() {
    if (!request_.profiles.empty()) return;
    std::vector<std::string_view> offered;
    for (const TableOutcome& table : report_.tables)
      if (table.offered_groups != 0) offered.push_back(table.report.profile->name);
    const auto is_offered = [&](std::string_view name) { return std::ranges::find(offered, name) != offered.end(); };
    std::erase_if(report_.tables, [&](const TableOutcome& table) { return !is_offered(table.report.profile->name); });
    std::erase_if(report_.absent, [&](const AbsentTable& absent) { return !is_offered(absent.profile); });
  }

  const RunRequest& request_;
  Subject& subject_;
  verify::CompareContext context_;
  RunReport report_;
  std::uint64_t calls_ = 0;
  std::size_t faults_of_table_ = 0;
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
