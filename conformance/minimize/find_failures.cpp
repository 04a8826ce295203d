#include "conformance/minimize/find_failures.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "conformance/suite/shared_rules.h"
#include "conformance/vectors/os_error.h"
#include "formats/spec_profiles.h"

namespace fp4proof::minimize {

namespace {

using suite::CaseGroup;
using suite::Operation;

constexpr std::size_t cases_of_call = 1024;
constexpr std::size_t most_faults = 2;

std::vector<SharedProfile> wanted_profiles(const Search& search) {
  if (!search.profiles.empty()) return search.profiles;
  std::vector<SharedProfile> all;
  for (const Profile& profile : profiles()) all.emplace_back(SharedProfile(), &profile);
  return all;
}

class Finder {
 public:
  Finder(runners::Subject& subject, const Search& search) : subject_(subject), search_(search) {}

  Result<FoundCases> find() {
    if (const Result<void> known = check_class(); !known) return known.error();
    const std::vector<SharedProfile> profiles = wanted_profiles(search_);
    for (const Operation operation : suite::operations) {
      for (const SharedProfile& profile : profiles) {
        if (!found_.stopped && (!search_.operation || *search_.operation == operation)) {
          if (const Result<void> done = look_at({operation, profile}); !done) return done.error();
        }
        if (search_.progress) search_.progress(suite::operations.size() * profiles.size());
      }
    }
    if (search_.case_id && !seen_case_) {
      return Error{ErrorKind::usage, fmt::format("{} has no case {} that is asked for; check --set, --profile and --op",
                                                 search_.cases->label(), suite::id_text(*search_.case_id))};
    }
    return std::move(found_);
  }

 private:
  Result<void> check_class() const {
    if (search_.class_name.empty()) return {};
    const auto& classes = search_.cases->classes();
    if (std::ranges::find(classes, search_.class_name, &suite::ClassEntry::name) != classes.end()) return {};
    return Error{ErrorKind::usage, fmt::format("{} has no class {}; 'fp4proof list classes' names them",
                                               search_.cases->label(), quote(search_.class_name))};
  }

  const std::string& class_of(const CaseGroup& group, std::size_t index) const {
    return search_.cases->classes()[group.classes[index]].name;
  }

  bool wants(const CaseGroup& group, std::size_t index) const {
    if (search_.case_id) return group.ids[index] == *search_.case_id;
    if (search_.cases->errata().contains(group.ids[index])) return false;
    return search_.class_name.empty() || class_of(group, index) == search_.class_name;
  }

  bool wants(const Topic& topic, const CaseGroup& group) const {
    const bool other_order = !search_.accumulator.empty() && !group.spec.accumulator.empty() &&
                             group.spec.accumulator != search_.accumulator;
    return !other_order && suite::group_tensors(topic.operation, *topic.profile, group.spec).ok();
  }

  Result<void> look_at(const Topic& topic) {
    const auto table = search_.cases->questions(topic.operation, topic.profile);
    if (!table) return table.error();
    if (!*table) return {};
    JudgeOptions options;
    options.rules = search_.rules;
    options.most_calls = std::numeric_limits<std::size_t>::max();
    Judge judge(subject_, topic, std::move(options));
    faults_ = 0;
    for (const CaseGroup& group : (*table)->groups) {
      if (!wants(topic, group)) continue;
      std::vector<std::size_t> places;
      for (std::size_t i = 0; i < group.size(); ++i)
        if (wants(group, i)) places.push_back(i);
      if (const Result<void> done = look_at(judge, group, places); !done) return done;
      if (found_.stopped || faults_ >= most_faults) break;
    }
    return {};
  }

  Result<void> look_at(Judge& judge, const CaseGroup& group, const std::vector<std::size_t>& places) {
    for (std::size_t begin = 0; begin < places.size() && !found_.stopped; begin += cases_of_call) {
      const std::size_t end = std::min(places.size(), begin + cases_of_call);
      std::vector<Question> questions;
      for (std::size_t i = begin; i < end; ++i) questions.push_back(question_of(group, places[i]));
      seen_case_ = true;
      const Result<bool> offered = judge.offers(questions.front());
      if (!offered) return offered.error();
      if (!*offered) {
        found_.unsupported += questions.size();
        continue;
      }
      const Result<Judge::Answers> answers = judge.ask(questions);
      if (!answers) return answers.error();
      if (!answers->fault.empty()) {
        ++faults_;
        const auto culprit = judge.first_fault(questions);
        if (!culprit) return culprit.error();
        const std::size_t place = culprit->value_or(0);
        note(judge.topic(), group, places[begin + place], failure_by_fault(answers->fault));
        return {};
      }
      found_.compared += questions.size();
      for (std::size_t i = begin; i < end; ++i) {
        if (answers->failures[i - begin]) note(judge.topic(), group, places[i], *answers->failures[i - begin]);
      }
    }
    return {};
  }

  void note(const Topic& topic, const CaseGroup& group, std::size_t index, const Failure& failure) {
    const auto known = std::ranges::find_if(found_.cases, [&](const FoundCase& other) {
      return other.topic.operation == topic.operation && other.topic.profile == topic.profile &&
             other.failure.is_like(failure);
    });
    const bool is_new = known == found_.cases.end();
    if (found_.stopped || (!is_new && known->others.size() >= most_others)) return;
    if (is_new && found_.cases.size() >= search_.most_found) {
      found_.stopped = true;
      return;
    }
    (is_new ? found_.cases : known->others)
        .push_back({topic, question_of(group, index), failure, class_of(group, index), group.ids[index]});
  }

  runners::Subject& subject_;
  const Search& search_;
  FoundCases found_;
  std::size_t faults_ = 0;
  bool seen_case_ = false;
};

}  // namespace

Result<FoundCases> find_failures(runners::Subject& subject, const Search& search) {
  return Finder(subject, search).find();
}

}  // namespace fp4proof::minimize
