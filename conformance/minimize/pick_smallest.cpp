#include "conformance/minimize/pick_smallest.h"

#include <algorithm>
#include <utility>

#include "conformance/minimize/atoms.h"
#include "conformance/runners/run_backend.h"
#include "conformance/suite/reference_answers.h"

namespace fp4proof::minimize {

namespace {

/// A failing case as it is, without its story.
struct Picked {
  FoundCase found;
  Minimal minimal;
};

class Picker {
 public:
  explicit Picker(const Search& search) : search_(search) {}

  void see(const verify::ComparedCase& seen) {
    if (!failed_.ok() || !wants(seen)) return;
    ++compared_;
    if (seen.finding) failed_ = take(seen);
  }

  Result<PickedCases> finish(runners::Subject& subject) {
    if (!failed_) return failed_.error();
    PickedCases picked;
    picked.compared = compared_;
    for (Picked& one : picked_) {
      if (picked.cases.size() >= search_.most_found) break;
      const Judge unasked(subject, one.found.topic, {});
      Result<MinimalCase> described = describe(std::move(one.found), std::move(one.minimal), unasked);
      if (!described) return described.error();
      picked.cases.push_back(*std::move(described));
    }
    return picked;
  }

 private:
  bool wants(const verify::ComparedCase& seen) const {
    if (search_.case_id && seen.group.ids[seen.index] != *search_.case_id) return false;
    return search_.class_name.empty() || class_of(seen) == search_.class_name;
  }

  const std::string& class_of(const verify::ComparedCase& seen) const {
    return search_.cases->classes()[seen.group.classes[seen.index]].name;
  }

  Result<void> take(const verify::ComparedCase& seen) {
    Failure failure;
    failure.finding = *seen.finding;
    const Topic topic{seen.table.operation, seen.report.profile};
    const Question question = question_of(seen.group, seen.index);
    const Result<std::vector<Atom>> atoms = atoms_of(topic, question.spec);
    if (!atoms) return atoms.error();
    const std::size_t nonzero = nonzero_elements(question, *atoms);
    const auto known = std::ranges::find_if(picked_, [&](const Picked& other) {
      return other.found.topic.operation == topic.operation && other.found.topic.profile == topic.profile &&
             other.found.failure.is_like(failure);
    });
    if (known != picked_.end() && known->minimal.nonzero <= nonzero) return {};
    Result<suite::CaseTable> table = table_of(topic, std::span(&question, 1));
    if (!table) return table.error();
    if (const Result<void> answered = suite::answer_by_reference(*table); !answered) return answered;
    JudgedCase judged{failure, *std::move(table), {}};
    for (const Bytes bytes : seen.actual) judged.actual.emplace_back(bytes.begin(), bytes.end());
    Picked one{{topic, question, failure, class_of(seen), seen.group.ids[seen.index]},
               {Ending::picked, failure, false, question, std::move(judged), nonzero, nonzero}};
    if (known == picked_.end()) {
      picked_.push_back(std::move(one));
    } else {
      *known = std::move(one);
    }
    return {};
  }

  const Search& search_;
  std::vector<Picked> picked_;
  std::uint64_t compared_ = 0;
  Result<void> failed_;
};

}  // namespace

Result<PickedCases> pick_smallest(runners::Subject& subject, const Search& search) {
  Picker picker(search);
  runners::RunRequest request;
  request.subject = &subject;
  request.cases = search.cases;
  request.profiles = search.profiles;
  request.kept_profiles_only = true;
  request.operation = search.operation;
  request.accumulator = search.accumulator;
  request.rules = search.rules;
  request.most_mismatches = 0;
  request.observer = [&](const verify::ComparedCase& seen) { picker.see(seen); };
  request.progress = search.progress;
  const Result<runners::RunReport> report = runners::run_backend(request);
  if (!report) return report.error();
  return picker.finish(subject);
}

}  // namespace fp4proof::minimize
