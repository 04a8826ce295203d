#include "conformance/diagnose/search.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <span>
#include <utility>

#include "conformance/diagnose/hypotheses.h"
#include "conformance/diagnose/predict.h"

namespace fp4proof::diagnose {

namespace {

/// What a model does to each kept case.
struct Effect {
  std::vector<bool> touched;      ///< its answer is not the right one
  std::vector<bool> agrees;       ///< its answer is the one given
  std::uint64_t fingerprint = 0;  ///< of all answers: equal for models that answer alike
  std::uint64_t explained = 0;
  std::uint64_t contradicted = 0;
};

/// A change and its effect alone.
struct Tried {
  const Change* change;
  Effect effect;
};

/// Changes made together.
struct Candidate {
  std::vector<const Change*> changes;
  std::uint64_t explained = 0;
  std::uint64_t contradicted = 0;
};

std::uint64_t mixed(std::uint64_t hash, std::span<const std::uint8_t> bytes) {
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001B3U;
  return hash;
}

bool equal_rows(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b, std::size_t row,
                std::size_t bytes) {
  return std::memcmp(&a[row * bytes], &b[row * bytes], bytes) == 0;
}

Effect effect_of(const Question& question, const KernelModel& model, const std::vector<GroupEvidence>& groups) {
  Effect effect;
  effect.fingerprint = 0xCBF29CE484222325U;
  for (const GroupEvidence& group : groups) {
    const auto predicted = predict(question, model, group);
    const std::vector<std::uint8_t>& answers = predicted ? *predicted : group.expected;
    effect.fingerprint = mixed(effect.fingerprint, answers);
    for (std::size_t i = 0; i < group.cases.size(); ++i) {
      const bool touched = !equal_rows(answers, group.expected, i, group.answer_bytes);
      const bool agrees = equal_rows(answers, group.actual, i, group.answer_bytes);
      effect.touched.push_back(touched);
      effect.agrees.push_back(agrees);
      effect.explained += agrees && group.failed(i) ? 1 : 0;
      effect.contradicted += !agrees && touched ? 1 : 0;
    }
  }
  return effect;
}

/// The changes of two different dimensions in one kernel.
KernelModel together(const Profile& profile, const Change& first, const Change& second) {
  KernelModel model = faithful_model(profile);
  // A whole profile first: it would undo a change of a single field.
  const bool second_is_profile = second.hypothesis->dimension == "profile";
  for (const Change* change : second_is_profile ? std::array{&second, &first} : std::array{&first, &second}) {
    change->hypothesis->apply(model, change->hypothesis->parameter);
  }
  return model;
}

class Search {
 public:
  explicit Search(const TableEvidence& table)
      : question_{table.operation, *table.kept},
        groups_(group_evidence(table)),
        changes_(changes_of(table.operation, *table.kept)) {
    for (const GroupEvidence& group : groups_)
      for (std::size_t i = 0; i < group.cases.size(); ++i) failed_.push_back(group.failed(i));
    failing_ = static_cast<std::uint64_t>(std::ranges::count(failed_, true));
    screen_ = screening_groups();
  }

  /// Every candidate that explains all at the least cost; empty where none does.
  std::vector<Candidate> complete() {
    if (std::vector<Candidate> found = singles(0, cost_of_loose_fit); !found.empty()) return found;
    if (std::vector<Candidate> found = pairs(); !found.empty()) return found;
    return singles(cost_of_loose_fit, std::numeric_limits<int>::max());
  }

  /// The changes that explain most, each with something that the ones before it leave.
  std::vector<Candidate> partial() const {
    constexpr std::size_t most = 3;
    std::vector<bool> open = failed_;
    std::vector<Candidate> best;
    while (best.size() < most) {
      const Tried* next = nullptr;
      std::pair<std::uint64_t, std::uint64_t> gain;
      for (const Tried& tried : tried_) {
        // What contradicts more than it explains is no explanation, whatever it happens to hit.
        if (tried.change->cost >= cost_of_loose_fit || tried.effect.contradicted >= tried.effect.explained) continue;
        const std::uint64_t explains = count_explained(tried.effect, open);
        const std::pair candidate(explains, ~tried.effect.contradicted);
        if (explains == 0 || (next != nullptr && candidate <= gain)) continue;
        next = &tried;
        gain = candidate;
      }
      if (next == nullptr) break;
      best.push_back({{next->change}, next->effect.explained, next->effect.contradicted});
      for (std::size_t i = 0; i < open.size(); ++i)
        if (next->effect.agrees[i]) open[i] = false;
    }
    return best;
  }

 private:
  bool explains_all(const Effect& effect) const { return effect.explained == failing_ && effect.contradicted == 0; }

  static std::uint64_t count_explained(const Effect& effect, const std::vector<bool>& open) {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < open.size(); ++i) count += open[i] && effect.agrees[i] ? 1 : 0;
    return count;
  }

  /// Tries every change with a cost in [from, to), one cost after the other, until some explain all.
  std::vector<Candidate> singles(int from, int to) {
    std::vector<Candidate> found;
    for (auto begin = changes_.begin(); begin != changes_.end() && found.empty();) {
      const auto end =
          std::ranges::find_if(begin, changes_.end(), [&](const Change& c) { return c.cost != begin->cost; });
      if (begin->cost >= from && begin->cost < to) try_all(std::span(begin, end), found);
      begin = end;
    }
    return found;
  }

  void try_all(std::span<const Change> changes, std::vector<Candidate>& found) {
    const std::size_t first = tried_.size();
    for (const Change& change : changes) tried_.push_back({&change, {}});
      // Side by side, one thread each: the reference would wake its threads for a few blocks.
#pragma omp parallel for schedule(dynamic)
    for (std::size_t i = first; i < tried_.size(); ++i) {
      tried_[i].effect = effect_of(question_, tried_[i].change->model, groups_);
    }
    for (std::size_t i = first; i < tried_.size(); ++i) {
      const Effect& effect = tried_[i].effect;
      if (explains_all(effect)) found.push_back({{tried_[i].change}, effect.explained, effect.contradicted});
    }
  }

  /// Changes that are worth pairing: they touch something that is wrong, and no two answer alike.
  std::vector<const Tried*> pairable() const {
    std::vector<const Tried*> chosen;
    for (const Tried& tried : tried_) {
      if (!tried.change->hypothesis->pairs) continue;
      bool touches = false;
      for (std::size_t i = 0; i < failed_.size() && !touches; ++i) touches = failed_[i] && tried.effect.touched[i];
      const bool is_known = std::ranges::any_of(chosen, [&](const Tried* other) {
        return other->effect.fingerprint == tried.effect.fingerprint &&
               other->change->hypothesis->dimension == tried.change->hypothesis->dimension;
      });
      if (touches && !is_known) chosen.push_back(&tried);
    }
    return chosen;
  }

  /// What a pair cannot do without: every wrong answer is touched by one of them, and what one does to a right answer
  /// is undone by the other.
  bool may_explain(const Effect& a, const Effect& b) const {
    for (std::size_t i = 0; i < failed_.size(); ++i) {
      if (failed_[i] ? !a.touched[i] && !b.touched[i] : a.touched[i] != b.touched[i]) return false;
    }
    return true;
  }

  struct Pair {
    const Tried* first;
    const Tried* second;
    bool explains = false;
    int cost() const { return first->change->cost + second->change->cost; }
  };

  std::vector<Pair> promising_pairs() const {
    const std::vector<const Tried*> chosen = pairable();
    std::vector<Pair> promising;
    for (std::size_t a = 0; a < chosen.size(); ++a) {
      for (std::size_t b = a + 1; b < chosen.size(); ++b) {
        const bool same = chosen[a]->change->hypothesis->dimension == chosen[b]->change->hypothesis->dimension;
        if (!same && may_explain(chosen[a]->effect, chosen[b]->effect)) promising.push_back({chosen[a], chosen[b]});
      }
    }
    return promising;
  }

  bool explains_together(const Pair& pair) const {
    const KernelModel model = together(question_.profile, *pair.first->change, *pair.second->change);
    return passes_screen(model) && explains_all(effect_of(question_, model, groups_));
  }

  std::vector<Candidate> pairs() const {
    std::vector<Pair> promising = promising_pairs();
#pragma omp parallel for schedule(dynamic)
    for (std::size_t i = 0; i < promising.size(); ++i) promising[i].explains = explains_together(promising[i]);
    std::erase_if(promising, [](const Pair& pair) { return !pair.explains; });
    if (promising.empty()) return {};
    const int least = std::ranges::min(promising, {}, &Pair::cost).cost();
    std::vector<Candidate> found;
    for (const Pair& pair : promising)
      if (pair.cost() == least) found.push_back({{pair.first->change, pair.second->change}, failing_, 0});
    return found;
  }

  /// A few failing cases of each group, so that most pairs are dropped cheaply.
  std::vector<GroupEvidence> screening_groups() const {
    constexpr std::size_t most_groups = 6;
    constexpr std::size_t most_cases = 4;
    std::vector<GroupEvidence> screen;
    for (const GroupEvidence& group : groups_) {
      std::vector<std::size_t> rows;
      const auto failing = static_cast<std::size_t>(
          std::ranges::count_if(group.kept, [](const KeptCase* kept) { return !kept->actual.empty(); }));
      for (std::size_t i = 0; i < std::min(failing, most_cases); ++i) rows.push_back(i * failing / most_cases);
      if (failing < most_cases) {
        rows.clear();
        for (std::size_t i = 0; i < failing; ++i) rows.push_back(i);
      }
      if (!rows.empty() && screen.size() < most_groups) screen.push_back(rows_of(group, rows));
    }
    return screen;
  }

  bool passes_screen(const KernelModel& model) const {
    for (const GroupEvidence& group : screen_) {
      const auto predicted = predict(question_, model, group);
      if (!predicted || *predicted != group.actual) return false;
    }
    return true;
  }

  Question question_;
  std::vector<GroupEvidence> groups_;
  std::vector<GroupEvidence> screen_;
  std::vector<Change> changes_;
  std::vector<Tried> tried_;
  std::vector<bool> failed_;  ///< for each kept case
  std::uint64_t failing_ = 0;

  static GroupEvidence rows_of(const GroupEvidence& group, const std::vector<std::size_t>& rows);
};

GroupEvidence Search::rows_of(const GroupEvidence& group, const std::vector<std::size_t>& rows) {
  GroupEvidence part;
  part.answer_bytes = group.answer_bytes;
  part.cases.spec = group.cases.spec;
  const auto copy_row = [](const std::vector<std::uint8_t>& from, std::size_t row, std::size_t bytes,
                           std::vector<std::uint8_t>& to) {
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(row * bytes);
    to.insert(to.end(), begin, begin + static_cast<std::ptrdiff_t>(bytes));
  };
  for (const std::size_t row : rows) {
    part.kept.push_back(group.kept[row]);
    if (!group.ignored.empty()) part.ignored.push_back(group.ignored[row]);
    part.cases.ids.push_back(group.cases.ids[row]);
    part.cases.classes.push_back(group.cases.classes[row]);
    copy_row(group.expected, row, group.answer_bytes, part.expected);
    copy_row(group.actual, row, group.answer_bytes, part.actual);
  }
  for (const suite::CaseTensor& tensor : group.cases.tensors) {
    suite::CaseTensor& copy = part.cases.tensors.emplace_back(tensor);
    copy.bytes.clear();
    for (const std::size_t row : rows) copy_row(tensor.bytes, row, tensor.case_bytes(), copy.bytes);
  }
  return part;
}

NamedChange named(const Change& change) {
  std::string text = change.text;
  if (!change.also_called.empty()) text += " (profile " + change.also_called + ")";
  return {change.hypothesis->id(), change.hypothesis->dimension, std::move(text)};
}

std::vector<Explanation> explanations_of(const std::vector<Candidate>& candidates) {
  std::vector<Explanation> explanations;
  for (const Candidate& candidate : candidates) {
    Explanation explanation;
    for (const Change* change : candidate.changes) explanation.changes.push_back(named(*change));
    explanation.explained = candidate.explained;
    explanation.contradicted = candidate.contradicted;
    explanations.push_back(std::move(explanation));
  }
  return explanations;
}

/// A fit to the evidence explains a kernel that draws random words, and says of any other only where its answers lie.
bool names_no_rule(const TableEvidence& table, const Candidate& candidate) {
  const auto is_loose = [](const Change* change) { return change->cost >= cost_of_loose_fit; };
  return table.asked->rounding != Rounding::stochastic && std::ranges::any_of(candidate.changes, is_loose);
}

}  // namespace

TableDiagnosis diagnose_table(const TableEvidence& table) {
  TableDiagnosis diagnosis;
  diagnosis.operation = table.operation;
  diagnosis.profile = table.asked->name;
  diagnosis.mismatches = table.failed;
  diagnosis.examined = table.failing.size();
  diagnosis.passing = table.passing.size();
  Search search(table);
  std::vector<Candidate> found = search.complete();
  if (!found.empty()) {
    diagnosis.outcome = found.size() != 1                     ? Outcome::ambiguous
                        : names_no_rule(table, found.front()) ? Outcome::partial
                                                              : Outcome::explained;
  } else {
    found = search.partial();
    diagnosis.outcome = found.empty() ? Outcome::unexplained : Outcome::partial;
  }
  diagnosis.explanations = explanations_of(found);
  return diagnosis;
}

}  // namespace fp4proof::diagnose
