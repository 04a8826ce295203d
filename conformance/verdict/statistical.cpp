#include "conformance/verdict/statistical.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "conformance/verdict/drawn_group.h"

namespace fp4proof::verdict {

namespace {

using nlohmann::json;

/// Elements so far apart must be independent: neighbours, and the same lane of another thread, warp or block.
constexpr std::array<std::size_t, 8> lags = {1, 2, 4, 8, 16, 32, 64, 128};

/// Elements of like probability and sign are summed.
constexpr std::size_t probability_bins = 8;

/// A sum of terms with mean 0 that lie in an interval of length 1, or within 1 of 0.
struct Sum {
  double total = 0.0;
  double terms = 0.0;

  void add(double term) {
    total += term;
    terms += 1.0;
  }
  double mean() const { return total / terms; }
  /// ln of twice the chance that independent terms stray as far (Hoeffding), or martingale differences within 1 of 0
  /// (Azuma).
  double hoeffding() const { return std::log(2.0) - 2.0 * total * total / terms; }
  double azuma() const { return std::log(2.0) - total * total / (2.0 * terms); }
};

/// ln of twice the chance of `hits` or something farther from the mean in `draws` draws (Chernoff).
double chernoff(double hits, double draws, double probability) {
  const double share = hits / draws;
  const auto term = [](double part, double of) { return part == 0.0 ? 0.0 : part * std::log(part / of); };
  return std::log(2.0) - draws * (term(share, probability) + term(1.0 - share, 1.0 - probability));
}

/// One group while it is drawn.
struct GroupDraws {
  DrawnGroup group;
  std::vector<std::uint32_t> ups;            ///< of each element
  std::vector<std::uint32_t> moves;          ///< of each element that must stay
  std::vector<std::uint32_t> strays;         ///< codes that are neither neighbour
  std::vector<bool> wrong_scales;            ///< of each case
  std::vector<double> deviations, previous;  ///< up minus its probability, 0 where nothing is drawn

  explicit GroupDraws(DrawnGroup drawn) : group(std::move(drawn)) {
    const std::size_t elements = group.elements().size();
    ups.assign(elements, 0);
    moves.assign(elements, 0);
    strays.assign(elements, 0);
    wrong_scales.assign(group.question().size(), false);
    deviations.assign(elements, 0.0);
  }

  std::size_t case_of(std::size_t element) const { return element / group.elements_per_case(); }

  std::string place(std::size_t element) const {
    return fmt::format("case {} of group {}, element {}", suite::id_text(group.question().ids[case_of(element)]),
                       group_name(group.question().spec), element % group.elements_per_case());
  }
};

class Tester {
 public:
  Tester(runners::Subject& subject, const Profile& profile, const StatisticalPlan& plan, double rate)
      : subject_(subject), profile_(profile), plan_(plan), rate_(rate) {}

  Result<StatisticalTable> run(const suite::CaseTable& questions, const std::vector<suite::ClassEntry>& classes) {
    const std::size_t share = most_drawn_elements / std::max<std::size_t>(questions.groups.size(), 1);
    for (const suite::CaseGroup& group : questions.groups) {
      if (const Result<void> done = run_group(group, share, classes); !done) return done.error();
      if (!table_.fault.empty()) break;
    }
    find_alarms();
    count_cases(classes);
    table_.summary = {{"repetitions", plan_.repetitions}, {"elements", elements_}, {"draws", draws_}, {"tests", tests_},
                      {"false_alarm_rate", rate_},        {"alarms", alarms_}};
    return std::move(table_);
  }

 private:
  Result<void> run_group(const suite::CaseGroup& group, std::size_t share,
                         const std::vector<suite::ClassEntry>& classes) {
    if (!suite::group_tensors(suite::Operation::quantize, profile_, group.spec).ok()) return {};
    const std::size_t case_elements = static_cast<std::size_t>(group.spec.rows * group.spec.columns);
    const std::size_t cases = std::clamp<std::size_t>(share / case_elements, 1, group.size());
    for (std::size_t i = cases; i < group.size(); ++i) ++table_.classes[classes[group.classes[i]].name].skipped;
    Result<DrawnGroup> drawn = DrawnGroup::prepare(profile_, group, cases);
    if (!drawn) return drawn.error();
    const runners::SubjectReply support = subject_.supports(suite::Operation::quantize, profile_, drawn->question());
    if (support.kind == runners::SubjectReply::Kind::unsupported) {
      for (std::size_t i = 0; i < cases; ++i) ++table_.classes[classes[group.classes[i]].name].skipped;
      return {};
    }
    if (support.kind != runners::SubjectReply::Kind::ok) return end_with(support.why, group);
    groups_.emplace_back(std::move(*drawn));
    return draw(groups_.back());
  }

  Result<void> end_with(std::string fault, const suite::CaseGroup& group) {
    table_.fault = std::move(fault);
    table_.fault_group = group_name(group.spec);
    table_.fault_cases = group.size();
    table_.fault_first_case = suite::id_text(group.ids.front());
    return {};
  }

  Result<void> draw(GroupDraws& draws) {
    for (std::uint32_t repetition = 0; repetition < plan_.repetitions; ++repetition) {
      words_ += draws.group.draw_words(words_);
      const Result<runners::GroupAnswers> answers =
          subject_.answer(suite::Operation::quantize, profile_, draws.group.question());
      if (!answers) return answers.error();
      if (!answers->fault.empty()) return end_with(answers->fault, draws.group.question());
      for (std::size_t i = 0; i < draws.wrong_scales.size(); ++i)
        if (!draws.group.has_right_scales(answers->outputs, i)) draws.wrong_scales[i] = true;
      see(draws, draws.group.codes_of(answers->outputs));
    }
    return {};
  }

  void see(GroupDraws& draws, const std::vector<std::uint8_t>& codes) {
    const std::vector<DrawnElement>& elements = draws.group.elements();
    for (std::size_t i = 0; i < elements.size(); ++i) {
      const DrawnElement& element = elements[i];
      if (!element.is_drawn()) {
        if (codes[i] != element.low) ++draws.moves[i];
        continue;
      }
      const bool is_up = codes[i] == element.high;
      if (is_up) ++draws.ups[i];
      if (!is_up && codes[i] != element.low) ++draws.strays[i];
      draws.deviations[i] = (is_up ? 1.0 : 0.0) - element.probability;
      bin_of(element).add(draws.deviations[i]);
    }
    correlate(draws);
    draws.previous = draws.deviations;
  }

  Sum& bin_of(const DrawnElement& element) {
    const auto bin = static_cast<std::size_t>(element.probability * static_cast<double>(probability_bins));
    const int sign_bit = element_spec(profile_.element).bits() - 1;
    return bins_[(element.high >> sign_bit) & 1][std::min(bin, probability_bins - 1)];
  }

  void correlate(const GroupDraws& draws) {
    const std::vector<double>& now = draws.deviations;
    for (std::size_t lag = 0; lag < lags.size(); ++lag)
      for (std::size_t i = lags[lag]; i < now.size(); ++i)
        if (now[i] != 0.0 && now[i - lags[lag]] != 0.0) by_lag_[lag].add(now[i] * now[i - lags[lag]]);
    for (std::size_t i = 0; i < draws.previous.size(); ++i)
      if (now[i] != 0.0) by_call_.add(now[i] * draws.previous[i]);
  }

  /// Whether a test that had this logarithm of its chance is an alarm.
  bool is_alarm(double log_chance) const { return log_chance < std::log(rate_ / static_cast<double>(tests_)); }

  void find_alarms() {
    for (const GroupDraws& draws : groups_) {
      for (const DrawnElement& element : draws.group.elements()) elements_ += element.is_drawn() ? 1 : 0;
    }
    draws_ = elements_ * plan_.repetitions;
    tests_ = elements_ + 2 * probability_bins + lags.size() + 2;
    outright_alarms();
    element_alarms();
    sum_alarms();
  }

  void alarm(std::string text) { alarms_.push_back(std::move(text)); }

  /// What needs no chance: scales and codes that are impossible. And codes that must stay: a fraction below 2^-32 may
  /// go up once in a while.
  void outright_alarms() {
    std::uint64_t strays = 0;
    std::uint64_t scales = 0;
    double moves = 0.0;
    double stays = 0.0;
    std::string first_stray;
    std::string first_move;
    for (const GroupDraws& draws : groups_) {
      scales += static_cast<std::uint64_t>(std::ranges::count(draws.wrong_scales, true));
      for (std::size_t i = 0; i < draws.strays.size(); ++i) {
        if (draws.strays[i] != 0 && strays == 0) first_stray = draws.place(i);
        if (draws.moves[i] != 0 && moves == 0.0) first_move = draws.place(i);
        strays += draws.strays[i];
        moves += draws.moves[i];
        if (!draws.group.elements()[i].is_drawn()) stays += plan_.repetitions;
      }
    }
    if (scales != 0) alarm(fmt::format("wrong scales in {} cases", scales));
    if (strays != 0) alarm(fmt::format("{} draws gave neither neighbour, first {}", strays, first_stray));
    moved_ = moves != 0.0 && is_alarm(chernoff(moves, stays, 0x1p-32));
    if (moved_) alarm(fmt::format("values that codes stand for moved in {} draws, first {}", moves, first_move));
  }

  bool is_element_alarm(const GroupDraws& draws, std::size_t i) const {
    const DrawnElement& element = draws.group.elements()[i];
    return element.is_drawn() && is_alarm(chernoff(draws.ups[i], plan_.repetitions, element.probability));
  }

  void element_alarms() {
    std::uint64_t count = 0;
    std::string first;
    for (const GroupDraws& draws : groups_) {
      for (std::size_t i = 0; i < draws.ups.size(); ++i) {
        if (!is_element_alarm(draws, i) || count++ != 0) continue;
        first = fmt::format("{}: up in {} of {} draws, fraction {:.6g}", draws.place(i), draws.ups[i],
                            plan_.repetitions, draws.group.elements()[i].probability);
      }
    }
    if (count != 0) alarm(fmt::format("{} elements do not go up with their fraction, first {}", count, first));
  }

  void sum_alarms() {
    for (std::size_t sign = 0; sign < bins_.size(); ++sign) {
      for (std::size_t bin = 0; bin < probability_bins; ++bin) {
        const Sum& sum = bins_[sign][bin];
        if (sum.terms == 0.0 || !is_alarm(sum.hoeffding())) continue;
        alarm(fmt::format("biased: {} values with fractions from {:.3f} to {:.3f} go up {:+.4f} too often",
                          sign == 0 ? "positive" : "negative", static_cast<double>(bin) / probability_bins,
                          static_cast<double>(bin + 1) / probability_bins, sum.mean()));
      }
    }
    for (std::size_t lag = 0; lag < lags.size(); ++lag)
      if (by_lag_[lag].terms != 0.0 && is_alarm(by_lag_[lag].azuma()))
        alarm(fmt::format("elements {} apart share randomness", lags[lag]));
    if (by_call_.terms != 0.0 && is_alarm(by_call_.azuma())) alarm("calls share randomness: each is like the last");
  }

  void count_cases(const std::vector<suite::ClassEntry>& classes) {
    for (const GroupDraws& draws : groups_) {
      std::vector<bool> is_failed = draws.wrong_scales;
      for (std::size_t i = 0; i < draws.ups.size(); ++i)
        if (draws.strays[i] != 0 || (moved_ && draws.moves[i] != 0) || is_element_alarm(draws, i))
          is_failed[draws.case_of(i)] = true;
      for (std::size_t i = 0; i < is_failed.size(); ++i) {
        verify::Tally& tally = table_.classes[classes[draws.group.question().classes[i]].name];
        ++(is_failed[i] ? tally.failed : tally.passed);
      }
    }
  }

  runners::Subject& subject_;
  const Profile& profile_;
  const StatisticalPlan& plan_;
  double rate_;
  std::uint64_t words_ = 0;
  std::uint64_t elements_ = 0;
  std::uint64_t draws_ = 0;
  std::uint64_t tests_ = 0;
  bool moved_ = false;
  std::vector<GroupDraws> groups_;
  std::array<std::array<Sum, probability_bins>, 2> bins_{};
  std::array<Sum, lags.size()> by_lag_{};
  Sum by_call_;
  json alarms_ = json::array();
  StatisticalTable table_;
};

}  // namespace

bool is_drawn(suite::Operation operation, const Profile& profile) {
  return operation == suite::Operation::quantize && profile.rounding == Rounding::stochastic;
}

Result<StatisticalTable> test_stochastic_rounding(runners::Subject& subject, const Profile& profile,
                                                  const suite::CaseTable& questions,
                                                  const std::vector<suite::ClassEntry>& classes,
                                                  const StatisticalPlan& plan, double rate) {
  return Tester(subject, profile, plan, rate).run(questions, classes);
}

}  // namespace fp4proof::verdict
