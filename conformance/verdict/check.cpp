#include "conformance/verdict/check.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "conformance/diagnose/diagnose.h"
#include "conformance/diagnose/evidence.h"
#include "conformance/runners/run_backend.h"
#include "conformance/suite/case_class.h"
#include "conformance/suite/shared_rules.h"
#include "conformance/vectors/os_error.h"
#include "conformance/verdict/document.h"
#include "conformance/verdict/judge.h"
#include "conformance/verdict/places.h"
#include "conformance/verdict/set_contents.h"
#include "formats/spec_profiles.h"

namespace fp4proof::verdict {

namespace {

using nlohmann::json;

/// Everything that watches a run.
class Check {
 public:
  explicit Check(const CheckRequest& request)
      : request_(request), waived_cases_(request.waivers == nullptr ? 0 : request.waivers->list.size(), 0) {}

  Result<CheckOutcome> run() {
    if (const Result<void> known = check_waived_profiles(); !known) return known.error();
    if (const Result<void> right = check_level(); !right) return right.error();
    if (const Result<void> drawn = draw_tables(); !drawn) return drawn.error();
    Result<runners::RunReport> report = runners::run_backend(run_request());
    if (!report) return report.error();
    add_drawn_tables(*report);
    add_tables_below_level(*report);
    const std::vector<json> diagnoses = diagnose_tables(*report);
    CheckOutcome outcome;
    outcome.document =
        document_of(request_, {*report, places_, explained_, decomposed_, diagnoses, statistics_, waived_cases_});
    outcome.code = pronounce(outcome.document).code;
    return outcome;
  }

 private:
  runners::RunRequest run_request() {
    runners::RunRequest run;
    run.subject = request_.subject;
    run.cases = request_.cases;
    run.profiles = request_.profiles;
    run.kept_profiles_only = request_.kept_profiles_only;
    run.operation = request_.operation;
    run.accumulator = request_.accumulator;
    run.most_mismatches = request_.most_mismatches;
    run.rules = request_.rules;
    run.shard = request_.shard;
    run.threads = request_.threads > 0 ? request_.threads : omp_get_num_procs();
    run.progress = request_.progress;
    run.observer = [this](const verify::ComparedCase& compared) {
      places_.saw(compared);
      explained_.saw(compared);
      decomposed_.saw(compared);
      if (request_.diagnose) evidence_.saw(compared);
    };
    if (request_.statistical) run.leaves_out = is_drawn;
    if (request_.waivers != nullptr)
      run.waives = [this](const verify::ComparedCase& compared) { return is_waived(compared); };
    return run;
  }

  /// Where the subject is the reference itself, the run checks the answers.
  Result<void> check_level() const {
    if (request_.level == nullptr) return {};
    return check_set_contents(*request_.cases, request_.operation, request_.profiles,
                              request_.facts.kind != "reference");
  }

  bool is_known(std::string_view profile) const {
    const auto is_called = [&](const SharedProfile& known) { return known->name == profile; };
    if (find_profile(profile) != nullptr || std::ranges::any_of(request_.profiles, is_called)) return true;
    return std::ranges::any_of(suite::operations, [&](suite::Operation operation) {
      return std::ranges::any_of(request_.cases->kept_profiles(operation), is_called);
    });
  }

  Result<void> check_waived_profiles() const {
    if (request_.waivers == nullptr) return {};
    for (std::size_t i = 0; i < request_.waivers->list.size(); ++i) {
      const std::string& profile = request_.waivers->list[i].profile;
      if (profile.empty() || is_known(profile)) continue;
      return Error{ErrorKind::corrupt,
                   fmt::format("{}: waiver {}: unknown profile {}; it is no named one ('fp4proof list profiles'), nor "
                               "asked for, nor in the set",
                               quote(request_.waivers->path), i + 1, quote(profile))};
    }
    return {};
  }

  bool is_waived(const verify::ComparedCase& compared) {
    const suite::CaseGroup& group = compared.group;
    const std::string& class_name = request_.cases->classes()[group.classes[compared.index]].name;
    const std::optional<std::size_t> waiver = request_.waivers->find(
        {group.ids[compared.index], class_name, compared.report.operation, compared.report.profile->name});
    if (waiver) ++waived_cases_[*waiver];
    return waiver.has_value();
  }

  std::vector<json> diagnose_tables(const runners::RunReport& report) const {
    if (!request_.diagnose) return {};
    std::vector<json> diagnoses(report.tables.size());
    for (const diagnose::TableDiagnosis& diagnosis : diagnose::diagnose(evidence_)) {
      const auto found = std::ranges::find_if(report.tables, [&](const runners::TableOutcome& table) {
        return table.report.operation == diagnosis.operation && table.report.profile->name == diagnosis.profile;
      });
      if (found == report.tables.end()) continue;
      diagnoses[static_cast<std::size_t>(found - report.tables.begin())] = diagnose::to_json(diagnosis);
    }
    return diagnoses;
  }

  /// The profiles that are drawn from: by the first shard alone, since a test is no sum of the tests of its parts.
  std::vector<SharedProfile> drawn_profiles() const {
    std::vector<SharedProfile> drawn;
    const bool is_wanted = !request_.operation || *request_.operation == suite::Operation::quantize;
    if (!request_.statistical || !is_wanted || request_.shard.index != 1) return drawn;
    std::vector<SharedProfile> wanted = request_.profiles;
    if (wanted.empty())
      for (const Profile& profile : profiles()) wanted.emplace_back(SharedProfile(), &profile);
    std::ranges::copy_if(wanted, std::back_inserter(drawn),
                         [](const SharedProfile& profile) { return is_drawn(suite::Operation::quantize, *profile); });
    return drawn;
  }

  Result<void> draw_tables() {
    const std::vector<SharedProfile> profiles = drawn_profiles();
    // A subject that does not start is reported by the run.
    if (profiles.empty() || request_.subject->open().kind != runners::SubjectReply::Kind::ok) return {};
    const double rate = request_.statistical->false_alarm_rate / static_cast<double>(profiles.size());
    for (const SharedProfile& profile : profiles) {
      const Result<std::optional<suite::CaseTable>> questions =
          request_.cases->questions(suite::Operation::quantize, profile);
      if (!questions) return questions.error();
      if (!*questions) continue;
      Result<StatisticalTable> table = test_stochastic_rounding(*request_.subject, *profile, **questions,
                                                                request_.cases->classes(), *request_.statistical, rate);
      if (!table) return table.error();
      drawn_.emplace(std::string(profile->name), std::move(*table));
    }
    return {};
  }

  void add_drawn_tables(runners::RunReport& report) {
    if (!request_.statistical) return;
    statistics_.resize(report.tables.size());
    for (std::size_t i = 0; i < report.tables.size(); ++i) {
      verify::TableReport& table = report.tables[i].report;
      const auto drawn = drawn_.find(std::string(table.profile->name));
      if (!report.tables[i].left_out || drawn == drawn_.end()) continue;
      const StatisticalTable& found = drawn->second;
      table.classes = found.classes;
      statistics_[i] = found.summary;
      if (found.fault.empty()) continue;
      report.faults.push_back({table.operation, std::string(table.profile->name), found.fault_group, found.fault_cases,
                               found.fault_first_case, found.fault});
    }
  }

  /// A set of the level that is demanded has cases for every profile, also where only those of a folder are asked.
  void add_tables_below_level(runners::RunReport& report) const {
    if (request_.level == nullptr || !request_.profiles.empty()) return;
    report.absent.clear();
    for (const suite::Operation operation : suite::operations) {
      if (request_.operation && *request_.operation != operation) continue;
      for (const Profile* profile : suite::distinct_profiles(operation))
        if (suite::is_asked_of(operation, *profile) && !request_.cases->asks(operation, *profile))
          report.absent.push_back({operation, std::string(profile->name)});
    }
  }

  const CheckRequest& request_;
  std::map<std::string, StatisticalTable> drawn_;  // by profile
  PlaceCollector places_;
  ExplainedCases explained_;
  DecomposedCases decomposed_;
  diagnose::Evidence evidence_;
  std::vector<std::uint64_t> waived_cases_;
  std::vector<json> statistics_;
};

}  // namespace

Result<CheckOutcome> check(const CheckRequest& request) { return Check(request).run(); }

}  // namespace fp4proof::verdict
